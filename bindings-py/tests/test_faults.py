"""A programming error in a driver or a client library ends everything at once and is never tried again."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
import redis.asyncio
from kazoo.client import KazooClient
from support import LONG, RedisBackend, ZooKeeperBackend, wait_until

calls = 0
broken = False


def fail() -> None:
    """What a version of a library does that has another signature."""
    global calls
    if broken:
        calls += 1
        raise TypeError("read_response() got an unexpected keyword argument 'timeout'")


class Odd(redis.Connection):
    """A connection of another version."""

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        fail()
        return super().read_response(*arguments, **options)


class AsyncOdd(redis.asyncio.Connection):
    """The same for asyncio."""

    async def read_response(self, *arguments: Any, **options: Any) -> Any:
        value = await super().read_response(*arguments, **options)
        fail()
        return value


@pytest.fixture(autouse=True)
def whole() -> None:
    """Everything works at first."""
    global broken, calls
    broken, calls = False, 0


def break_all() -> None:
    """From now on it does not."""
    global broken
    broken = True


def check(error: fencepost.DriverError) -> None:
    """It says what is wrong."""
    assert (error.code, error.name) == (506, "driver-failed")
    assert isinstance(error.__cause__, TypeError)
    assert "unexpected keyword" in str(error)


@pytest.mark.parametrize("first", [True, False], ids=["connecting", "connected"])
def test_redis(redis_server: RedisBackend, first: bool) -> None:
    host, port = redis_server.address.split(":")
    pool = redis.ConnectionPool(connection_class=Odd, host=host, port=int(port))
    with redis.Redis(connection_pool=pool) as theirs, fencepost.Client(theirs) as client:
        lock = client.lock(redis_server.name())
        if not first:
            with lock:
                pass
        break_all()
        with pytest.raises(fencepost.DriverError) as error:
            lock.acquire()
        check(error.value)
        before = calls
        with pytest.raises(fencepost.DriverError) as error:
            lock.acquire()
        check(error.value)
        assert calls == before


def test_who_waits_and_who_holds_is_told(redis_server: RedisBackend) -> None:
    host, port = redis_server.address.split(":")
    pool = redis.ConnectionPool(connection_class=Odd, host=host, port=int(port))
    told: list[BaseException] = []
    with redis.Redis(connection_pool=pool) as theirs, fencepost.Client(theirs) as client:
        held = client.lock(redis_server.name("held"), ttl=60).acquire()
        assert held is not None

        def wait() -> None:
            try:
                client.lock(redis_server.name("held"), ttl=60).acquire()
            except fencepost.FencepostError as error:
                told.append(error)

        waiter = threading.Thread(target=wait)
        waiter.start()
        wait_until(lambda: redis_server.client.pubsub_channels(f"*{redis_server.prefix}*"), "it waits")
        break_all()
        with pytest.raises(fencepost.DriverError):
            client.lock(redis_server.name("other")).acquire()
        waiter.join(LONG)
        assert [type(error) for error in told] == [fencepost.DriverError]
        assert held.lost.wait(LONG)
        assert not held.is_valid
        with pytest.raises(fencepost.LockLost) as error:
            held.release()
        assert isinstance(error.value.__cause__, TypeError)


@pytest.mark.parametrize("first", [True, False], ids=["connecting", "connected"])
async def test_redis_below_a_loop(redis_server: RedisBackend, first: bool) -> None:
    host, port = redis_server.address.split(":")
    pool = redis.asyncio.ConnectionPool(connection_class=AsyncOdd, host=host, port=int(port))
    async with (
        redis.asyncio.Redis(connection_pool=pool) as theirs,
        fencepost.asyncio.Client(theirs) as client,
    ):
        lock = client.lock(redis_server.name())
        if not first:
            async with lock:
                pass
        break_all()
        for _ in range(2):
            with pytest.raises(fencepost.DriverError) as error:
                await asyncio.wait_for(lock.acquire(), LONG)
            check(error.value)


def test_kazoo(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, timeout=10)
    kazoo.start()

    def unchroot(path: str) -> str:
        fail()
        return path

    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:
        lost = pytest.raises(fencepost.LockLost, match="unexpected keyword")
        with lost, client.lock("stock").hold(timeout=LONG) as held:
            kazoo.unchroot = unchroot
            break_all()
            with pytest.raises(fencepost.DriverError) as error:
                client.lock("other").acquire()
            check(error.value)
            assert held.lost.wait(LONG)
            with pytest.raises(fencepost.DriverError):
                client.lock("other").acquire()
    kazoo.stop()
    kazoo.close()
