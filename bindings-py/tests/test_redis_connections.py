"""Connections to Redis that are open and of no use: their server has become a replica, or says nothing."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
from relay import Relay, relayed
from support import LONG, RedisBackend, wait_until, wait_until_async


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
    """The replica is the primary, at the same address; connections to the other one stay open."""
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
        # One that waits has a connection for its subscription.
        assert lock.acquire(timeout=0.3) is None
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
        assert await lock.acquire(timeout=0.3) is None
        wait_until(lambda: pair[1].exists(name), "the replica has it")
        fail_over(relay, *pair)
        await held.extend()
        await held.release()
        async with lock.hold(timeout=LONG):
            await wait_until_async(lambda: on_old(relay) == 0, "no connection to the old server is left")


def subscriptions(relay: Relay) -> list[Any]:
    """The connections on which somebody has subscribed."""
    return [pipe for pipe in relay.pipes if b"SUBSCRIBE" in pipe.sent]


@contextmanager
def held_and_listened_to(redis_server: RedisBackend, relay: Relay) -> Iterator[str]:
    """The name of a lock that one client holds. Another one waits for it through the relay; without the hint
    of the release it would ask again too late. At the end the holder releases, and the waiter has it.
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


def test_a_subscription_that_says_nothing(redis_server: RedisBackend, relay: Relay) -> None:
    with held_and_listened_to(redis_server, relay) as name:
        subscriptions(relay)[0].dumb = True
        wait_until(lambda: len(subscriptions(relay)) == 2, "it has subscribed on another connection")
        assert subscriptions(relay)[0].is_over
        wait_until(lambda: redis_server.is_listened_to(name), "the server has it")


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
        await wait_until_async(lambda: len(subscriptions(relay)) == 2, "it has subscribed again")
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
