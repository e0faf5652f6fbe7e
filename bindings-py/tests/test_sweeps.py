"""Sweeps of a scope, on real servers and on ``memory:``."""

from __future__ import annotations

from datetime import timedelta

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect, Connect
from support import RedisBackend, ZooKeeperBackend, wait_until

BRIEF = timedelta(milliseconds=1)


def swept(client: fencepost.Client, scope: str) -> None:
    """Frees records, waits until others are past their retention, and sweeps them."""
    payments = client.idempotency(scope)
    assert payments.sweep() == 0
    running = payments.claim("running")
    payments.register("done", "receipt 1")
    for key in ("released", "also released"):
        payments.claim(key).release()
    assert payments.sweep() == 2
    assert payments.sweep() == 0
    client.idempotency(scope, retention=BRIEF).register("brief", "receipt 2")
    wait_until(lambda: payments.sweep() == 1, "a retention is over")
    assert payments.look("brief") is None
    assert payments.register("done", "another").replayed
    running.complete("receipt 3")
    assert payments.claim("running").result == "receipt 3"


def test_a_sweep_on_zookeeper(connect: Connect, zookeeper: ZooKeeperBackend) -> None:
    swept(connect(zookeeper.url), zookeeper.prefix)


def test_a_sweep_on_memory(connect: Connect) -> None:
    swept(connect("memory:"), "payments")


def test_redis_expires_records_by_itself(connect: Connect, redis_server: RedisBackend) -> None:
    payments = connect(redis_server.url).idempotency(redis_server.prefix)
    payments.claim("released").release()
    assert payments.sweep() == 0


def test_a_sweep_that_is_refused(connect: Connect) -> None:
    client = connect("zk://127.0.0.1:1")
    payments = client.idempotency("payments", answer_within=0.05)
    with pytest.raises(fencepost.Refused, match="payments") as caught:
        payments.sweep()
    assert caught.value.name == "unreachable"


async def test_a_sweep_on_a_loop(aconnect: AsyncConnect, zookeeper: ZooKeeperBackend) -> None:
    payments = aconnect(zookeeper.url).idempotency(zookeeper.prefix)
    async with payments.claim("released") as claim:
        await claim.release()
    assert await payments.sweep() == 1
    assert await payments.sweep() == 0
