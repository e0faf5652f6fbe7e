"""Connections to Redis that are open but useless: their server has become a replica, or does not reply."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
from fencepost.drivers.redis._settings import SILENT_AFTER
from relay import Pipe, Relay, relayed
from support import BRIEF, LONG, RedisBackend, wait_until, wait_until_async


@pytest.fixture
def relay(redis_server: RedisBackend) -> Iterator[Relay]:
    """An address whose server changes."""
    with relayed(redis_server.address) as relay:
        yield relay


@pytest.fixture
def pair(redis_server: RedisBackend) -> Iterator[tuple[Any, Any]]:
    """A primary and its replica."""
    old, new = redis_server.client, redis.Redis.from_url(f"redis://{os.environ['FENCEPOST_REDIS_2']}")
    new.replicaof(*redis_server.address.split(":"))
    wait_until(lambda: new.info("replication")["master_link_status"] == "up", "it follows")
    yield old, new
    new.replicaof("no", "one")
    old.replicaof("no", "one")
    new.flushall()
    new.close()


def fail_over(relay: Relay, old: Any, new: Any) -> None:
    """Makes the replica the primary, at the same address. Connections to the old primary stay open."""
    address = os.environ["FENCEPOST_REDIS_2"]
    new.replicaof("no", "one")
    old.replicaof(*address.split(":"))
    relay.target = address


def on_old(relay: Relay) -> int:
    """How many connections of the client lead to the old server."""
    return sum(not pipe.is_over and pipe.target != relay.target for pipe in relay.pipes)


def test_a_primary_that_was_demoted(redis_server: RedisBackend, relay: Relay, pair: tuple[Any, Any]) -> None:
    name = redis_server.name()
    with fencepost.connect(f"redis://{relay.address}") as client:
        lock = client.lock(name, ttl=60)
        held = lock.acquire()
        assert held is not None
        # A waiter has a connection for its subscription.
        assert lock.acquire(timeout=BRIEF) is None
        wait_until(lambda: pair[1].exists(name), "the replica has it")
        fail_over(relay, *pair)
        held.extend()
        held.release()
        with lock.hold(timeout=LONG):
            wait_until(lambda: on_old(relay) == 0, "no connection to the old server is left")
        assert pair[1].exists(name) == 0


async def test_a_primary_that_was_demoted_below_a_loop(
    redis_server: RedisBackend, relay: Relay, pair: tuple[Any, Any]
) -> None:
    name = redis_server.name()
    async with fencepost.asyncio.connect(f"redis://{relay.address}") as client:
        lock = client.lock(name, ttl=60)
        held = await lock.acquire()
        assert held is not None
        assert await lock.acquire(timeout=BRIEF) is None
        wait_until(lambda: pair[1].exists(name), "the replica has it")
        fail_over(relay, *pair)
        await held.extend()
        await held.release()
        async with lock.hold(timeout=LONG):
            await wait_until_async(lambda: on_old(relay) == 0, "no connection to the old server is left")


def subscriptions(relay: Relay) -> list[Any]:
    """The connections on which the server has confirmed a subscription."""
    return [pipe for pipe in relay.pipes if b"subscribe" in pipe.received]


@contextmanager
def held_and_listened_to(redis_server: RedisBackend, relay: Relay) -> Iterator[str]:
    """The name of a lock that one client holds. Another one waits for it through the relay; without the
    message about the release it would poll too late. At the end the holder releases, and the waiter gets the
    lock.
    """
    name = redis_server.name()
    with (
        fencepost.connect(redis_server.url) as other,
        fencepost.connect(f"redis://{relay.address}") as client,
    ):
        held = other.lock(name, ttl=300).acquire()
        assert held is not None
        got: list[Any] = []
        lock = client.lock(name, ttl=60, poll=200)
        waiter = threading.Thread(target=lambda: got.append(lock.acquire()), daemon=True)
        waiter.start()
        wait_until(lambda: subscriptions(relay), "it has subscribed")
        yield name
        held.release()
        waiter.join(LONG)
        got[0].release()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens the time after which the client closes a silent connection."""
    monkeypatch.setattr("fencepost.drivers.redis._channels.SILENCE", 2_000_000)
    monkeypatch.setattr("fencepost.drivers.redis._channels.ANSWER_WITHIN", 2.0)
    for module in ("_background_connections", "_asyncio_connections"):
        monkeypatch.setattr(f"fencepost.drivers.redis.{module}.SILENT_AFTER", 1.0)


@pytest.mark.usefixtures("soon")
def test_a_subscription_that_says_nothing(redis_server: RedisBackend, relay: Relay) -> None:
    with held_and_listened_to(redis_server, relay) as name:
        subscriptions(relay)[0].dumb = True
        wait_until(lambda: len(subscriptions(relay)) > 1, "it has subscribed on another connection")
        wait_until(lambda: subscriptions(relay)[0].is_over, "the silent one is closed")
        wait_until(lambda: redis_server.is_listened_to(name), "the server has it")


@pytest.mark.usefixtures("soon")
async def test_a_subscription_that_says_nothing_below_a_loop(
    redis_server: RedisBackend, relay: Relay
) -> None:
    name = redis_server.name()
    async with (
        fencepost.asyncio.connect(redis_server.url) as other,
        fencepost.asyncio.connect(f"redis://{relay.address}") as client,
    ):
        held = await other.lock(name, ttl=300).acquire()
        assert held is not None
        waiter = asyncio.create_task(client.lock(name, ttl=60, poll=200).acquire())
        await wait_until_async(lambda: subscriptions(relay), "it has subscribed")
        subscriptions(relay)[0].dumb = True
        await wait_until_async(lambda: len(subscriptions(relay)) > 1, "it has subscribed again")
        await wait_until_async(lambda: redis_server.is_listened_to(name), "the server has it")
        await held.release()
        grant = await asyncio.wait_for(waiter, LONG)
        assert grant is not None
        await grant.release()


def test_a_subscription_that_is_quiet_is_kept(redis_server: RedisBackend, relay: Relay) -> None:
    with held_and_listened_to(redis_server, relay):
        pipe = subscriptions(relay)[0]
        wait_until(lambda: pipe.sent.count(b"PING") >= 2, "it was asked twice whether it is there")
        assert len(subscriptions(relay)) == 1


def extensions(grant: Any) -> int:
    """How many renewals of a grant the server has confirmed."""
    return int(grant._contender.extended)


def commands(relay: Relay) -> list[Any]:
    """The connections on which scripts were sent."""
    return [pipe for pipe in relay.pipes if b"EVAL" in pipe.sent]


LEASE = 9.0
"""Long enough for a busy machine: two thirds of it are left when a renewal is sent."""


@pytest.fixture
def slow(relay: Relay) -> Callable[..., list[Pipe]]:
    """Returns a function that delays replies by more than a third of the lease, and returns the slow
    connections.
    """

    def slow(delay: float = LEASE / 3 + 0.4) -> list[Pipe]:
        for pipe in relay.pipes:
            pipe.delay = delay
        return [pipe for pipe in relay.pipes if not pipe.is_over]

    return slow


def test_answers_after_a_third_of_the_lease_count(
    redis_server: RedisBackend, relay: Relay, slow: Callable[..., list[Pipe]]
) -> None:
    with (
        fencepost.connect(f"redis://{relay.address}") as client,
        client.lock(redis_server.name(), ttl=LEASE).hold(timeout=LONG) as grant,
    ):
        wait_until(lambda: extensions(grant), "the background has a connection, the server the script")
        connections = slow()
        wait_until(lambda: extensions(grant) > 1 or grant.lost.is_set(), "a late answer has come")
        assert grant.is_valid
        assert not any(pipe.is_over for pipe in connections)
        slow(0)


def test_the_answer_to_an_extension_counts_as_long_as_the_grant(
    redis_server: RedisBackend, relay: Relay, slow: Callable[..., list[Pipe]]
) -> None:
    with (
        fencepost.connect(f"redis://{relay.address}") as client,
        client.lock(redis_server.name(), ttl=LEASE, renew=False).hold(timeout=LONG) as grant,
    ):
        grant.extend()
        connections = slow()
        grant.extend()
        # The background thread has renewed meanwhile, on its own connection.
        assert not any(pipe.is_over for pipe in connections)
        slow(0)


async def test_so_they_do_below_a_loop(
    redis_server: RedisBackend, relay: Relay, slow: Callable[..., list[Pipe]]
) -> None:
    async with (
        fencepost.asyncio.connect(f"redis://{relay.address}") as client,
        client.lock(redis_server.name(), ttl=LEASE) as grant,
    ):
        await wait_until_async(lambda: extensions(grant), "the server knows the script")
        connections = slow()
        await wait_until_async(lambda: extensions(grant) > 1 or grant.lost.is_set(), "a late answer has come")
        assert grant.is_valid
        await grant.extend()
        assert not any(pipe.is_over for pipe in connections)
        slow(0)


def fall_dumb(relay: Relay) -> None:
    """Stops the forwarding on all existing connections. New ones work."""
    for pipe in relay.pipes:
        pipe.dumb = True


def test_a_silent_connection_of_a_thread(redis_server: RedisBackend, relay: Relay) -> None:
    with fencepost.connect(f"redis://{relay.address}") as client:
        lock = client.lock(redis_server.name(), ttl=60)
        with lock:
            pass
        fall_dumb(relay)
        with lock.hold(timeout=LONG):
            wait_until(lambda: commands(relay)[0].is_over, "the silent connection is closed")


async def test_a_silent_connection_below_a_loop(redis_server: RedisBackend, relay: Relay) -> None:
    async with fencepost.asyncio.connect(f"redis://{relay.address}") as client:
        lock = client.lock(redis_server.name(), ttl=60)
        async with lock:
            pass
        fall_dumb(relay)
        async with lock.hold(timeout=LONG):
            await wait_until_async(lambda: commands(relay)[0].is_over, "the silent connection is closed")


def test_a_silent_connection_is_given_up_before_a_usual_lease_ends(redis_server: RedisBackend) -> None:
    with fencepost.connect(redis_server.url) as client, client.lock(redis_server.name()) as grant:
        # The client sends the renewal after a third of the lease, and sends it again on another connection.
        assert (grant.remaining() or 0) * 2 / 3 > SILENT_AFTER + 1


@pytest.mark.usefixtures("soon")
def test_a_silent_connection_of_the_background(redis_server: RedisBackend, relay: Relay) -> None:
    with (
        fencepost.connect(f"redis://{relay.address}") as client,
        client.lock(redis_server.name(), ttl=12).hold(timeout=LONG) as grant,
    ):
        wait_until(lambda: extensions(grant), "it has renewed")
        # The last connection belongs to the background thread.
        commands(relay)[-1].dumb = True
        wait_until(lambda: extensions(grant) > 1 or grant.lost.is_set(), "it has renewed again")
        assert grant.is_valid


@pytest.mark.usefixtures("soon")
async def test_a_silent_connection_that_renews_below_a_loop(redis_server: RedisBackend, relay: Relay) -> None:
    async with (
        fencepost.asyncio.connect(f"redis://{relay.address}") as client,
        client.lock(redis_server.name(), ttl=7) as grant,
    ):
        fall_dumb(relay)
        await wait_until_async(lambda: extensions(grant) or grant.lost.is_set(), "it has renewed")
        assert grant.is_valid
