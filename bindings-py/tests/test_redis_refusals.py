"""A server that replies to scripts with a temporary error: it loads its data, is busy, or fails over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import fencepost
import fencepost.asyncio
import pytest
from relay import Relay, relayed
from support import LONG, RedisBackend, wait_until


@pytest.fixture
def relay(redis_server: RedisBackend) -> Iterator[Relay]:
    """An address whose server replies with an error for a while."""
    with relayed(redis_server.address) as relay:
        yield relay


ERRORS = pytest.mark.parametrize(
    "error",
    [
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN The cluster is down",
    ],
    ids=lambda error: error.split()[0],
)


@contextmanager
def refused(relay: Relay, error: str) -> Iterator[None]:
    """Scripts get this error at first. The calling thread sends the first script itself, and the background
    thread sends the others.
    """
    relay.refused, relay.error = 0, error

    def accept() -> None:
        try:
            wait_until(lambda: relay.refused >= 3, "it has asked again")
        finally:
            relay.error = ""

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert relay.refused >= 3


@ERRORS
def test_a_server_that_is_not_ready(redis_server: RedisBackend, relay: Relay, error: str) -> None:
    with fencepost.connect(f"redis://{relay.address}") as client:
        lock = client.lock(redis_server.name(), ttl=600)
        with refused(relay, error):
            grant = lock.acquire(timeout=LONG)
        assert grant is not None
        with refused(relay, error):
            grant.extend()
        with refused(relay, error):
            grant.release()
        operations = client.idempotency(redis_server.name(), lease=600)
        with refused(relay, error):
            claim = operations.claim("17", timeout=LONG)
        with refused(relay, error):
            claim.complete("paid")
        with refused(relay, error):
            assert operations.claim("17", timeout=LONG).result == "paid"


@ERRORS
async def test_a_server_that_is_not_ready_below_a_loop(
    redis_server: RedisBackend, relay: Relay, error: str
) -> None:
    async with fencepost.asyncio.connect(f"redis://{relay.address}") as client:
        lock = client.lock(redis_server.name(), ttl=600)
        with refused(relay, error):
            grant = await lock.acquire(timeout=LONG)
        assert grant is not None
        with refused(relay, error):
            await grant.extend()
        with refused(relay, error):
            await grant.release()


def test_a_server_that_loads_its_data_while_a_lock_is_held(redis_server: RedisBackend, relay: Relay) -> None:
    """The background thread renews the lock as soon as the server accepts scripts."""
    with (
        fencepost.connect(f"redis://{relay.address}") as client,
        client.lock(redis_server.name(), ttl=30).hold(timeout=LONG) as grant,
    ):
        with refused(relay, "LOADING Redis is loading the dataset in memory"):
            wait_until(lambda: relay.refused >= 3, "it has renewed")
        wait_until(lambda: (grant.remaining() or 0) > 22 or grant.lost.is_set(), "it has renewed again")
        assert grant.is_valid
