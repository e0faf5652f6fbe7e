"""A programming error in a driver or a client library ends all calls at once, without a retry."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
import redis.asyncio
from conftest import Connect
from fencepost._engine.faults import is_fault
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from support import (
    LONG,
    Backend,
    RedisBackend,
    ZooKeeperBackend,
    options,
    sockets,
    wait_until,
    wait_until_async,
)

TEXT = "read_response() got an unexpected keyword argument 'timeout'"
#: The errors of a library with another signature, and other errors of code.
FAULTS = [
    TypeError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    StopIteration,
    SystemError,
    ValueError,
]
every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)

calls = 0
broken: type[Exception] | None = None


def fail() -> None:
    """Raises the programming error of the library."""
    global calls
    if broken is not None:
        calls += 1
        raise broken(TEXT)


class Odd(redis.Connection):
    """A connection of another version of the library."""

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
    """At first, the library works."""
    global broken, calls
    broken, calls = None, 0


def break_all(fault: type[Exception] = TypeError) -> None:
    """From now on, the library fails."""
    global broken
    broken = fault


def mend() -> None:
    """From now on, the library works again."""
    global broken
    broken = None


def check(error: fencepost.DriverError, fault: type[Exception]) -> None:
    """Checks that the error describes the programming error."""
    assert (error.code, error.name) == (506, "driver-failed")
    assert isinstance(error.__cause__, (fault, RuntimeError) if fault is StopIteration else fault)
    assert "StopIteration" in str(error) or "unexpected keyword" in str(error)


class Theirs(Exception):
    """The exception of a program's own credential provider."""


@pytest.mark.parametrize(
    "error",
    [
        redis.exceptions.ConnectionError("Error 111 connecting"),
        redis.exceptions.InvalidResponse("Protocol Error"),
        redis.exceptions.LockError("is a ValueError, too"),
        ssl.SSLCertVerificationError("is a ValueError, too"),
        UnicodeError("encoding with 'idna' codec failed (UnicodeError: label too long)"),
        socket.gaierror(-2, "Name or service not known"),
        asyncio.IncompleteReadError(b"", 4),
        asyncio.TimeoutError(),
        EOFError(),
        MemoryError(),
        RecursionError("maximum recursion depth exceeded"),
        RuntimeError("Event loop is closed"),
        RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed"),
        RuntimeError("cannot schedule new futures after shutdown"),
        RuntimeError("can't start new thread"),
        RuntimeError("xids do not match, expected %r received %r", 5, 6),
        ValueError("I/O operation on closed file."),
        ValueError("file descriptor cannot be a negative integer (-1)"),
        Theirs("no token at the moment"),
        json.JSONDecodeError("is a ValueError, too", "", 0),
        ConnectionLoss(),
        None,
    ],
    ids=repr,
)
def test_what_may_pass(error: Exception | None) -> None:
    assert not is_fault(error)


@every_fault
@pytest.mark.parametrize("first", [True, False], ids=["connecting", "connected"])
def test_redis(redis_server: RedisBackend, first: bool, fault: type[Exception]) -> None:
    host, port = redis_server.address.split(":")
    pool = redis.ConnectionPool(connection_class=Odd, host=host, port=int(port))
    open_sockets = sockets()
    with redis.Redis(connection_pool=pool) as theirs, fencepost.Client(theirs) as client:
        lock = client.lock(redis_server.name())
        if not first:
            with lock:
                pass
        break_all(fault)
        with pytest.raises(fencepost.DriverError) as error:
            lock.acquire()
        check(error.value, fault)
        before = calls
        with pytest.raises(fencepost.DriverError) as error:
            lock.acquire()
        check(error.value, fault)
        assert calls == before
    # The error keeps the frames with the connection, so no finalizer has closed the connection.
    wait_until(lambda: sockets() <= open_sockets, "its sockets are closed")


def test_waiters_and_holders_get_the_programming_error(redis_server: RedisBackend) -> None:
    host, port = redis_server.address.split(":")
    pool = redis.ConnectionPool(connection_class=Odd, host=host, port=int(port))
    errors: list[BaseException] = []
    with (
        redis.Redis(connection_pool=pool) as theirs,
        # The held lock stays on the server, because the client cannot send a release.
        pytest.raises(fencepost.CleanupIncomplete, match="1 contender"),
        fencepost.Client(theirs) as client,
    ):
        held = client.lock(redis_server.name("held"), ttl=60).acquire()
        assert held is not None

        def wait() -> None:
            try:
                client.lock(redis_server.name("held"), ttl=60).acquire()
            except fencepost.FencepostError as error:
                errors.append(error)

        waiter = threading.Thread(target=wait)
        waiter.start()
        wait_until(lambda: redis_server.client.pubsub_channels(f"*{redis_server.prefix}*"), "it waits")
        break_all()
        with pytest.raises(fencepost.DriverError):
            client.lock(redis_server.name("other")).acquire()
        waiter.join(LONG)
        assert [type(error) for error in errors] == [fencepost.DriverError]
        assert held.lost.wait(LONG)
        assert not held.is_valid
        with pytest.raises(fencepost.LockLost) as error:
            held.release()
        assert isinstance(error.value.__cause__, TypeError)


@every_fault
@pytest.mark.parametrize("first", [True, False], ids=["connecting", "connected"])
async def test_redis_below_a_loop(redis_server: RedisBackend, first: bool, fault: type[Exception]) -> None:
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
        break_all(fault)
        for _ in range(2):
            with pytest.raises(fencepost.DriverError) as error:
                await asyncio.wait_for(lock.acquire(), LONG)
            check(error.value, fault)


class AsyncBroken(AsyncOdd):
    """A connection whose disconnect fails, too."""

    async def disconnect(self, *arguments: Any, **options: Any) -> None:
        await super().disconnect(*arguments, **options)
        fail()


@pytest.mark.parametrize("first", [True, False], ids=["connecting", "connected"])
async def test_a_disconnect_that_fails_below_a_loop(redis_server: RedisBackend, first: bool) -> None:
    """The error ends every call all the same, and no socket stays open."""
    host, port = redis_server.address.split(":")
    pool = redis.asyncio.ConnectionPool(connection_class=AsyncBroken, host=host, port=int(port))
    open_sockets = sockets()
    async with fencepost.asyncio.Client(redis.asyncio.Redis(connection_pool=pool)) as client:
        lock = client.lock(redis_server.name())
        if not first:
            async with lock:
                pass
        break_all()
        for _ in range(2):
            with pytest.raises(fencepost.DriverError) as error:
                await asyncio.wait_for(lock.acquire(), LONG)
            check(error.value, TypeError)
    await wait_until_async(lambda: sockets() <= open_sockets, "its sockets are closed")


@every_fault
def test_kazoo(zookeeper: ZooKeeperBackend, fault: type[Exception]) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, timeout=10)
    kazoo.start()

    def unchroot(path: str) -> str:
        fail()
        return path

    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:
        lost = pytest.raises(fencepost.LockLost, match="unexpected keyword")
        with lost, client.lock("stock").hold(timeout=LONG) as held:
            kazoo.unchroot = unchroot
            break_all(fault)
            with pytest.raises(fencepost.DriverError) as error:
                client.lock("other").acquire()
            check(error.value, fault)
            assert held.lost.wait(LONG)
            with pytest.raises(fencepost.DriverError):
                client.lock("other").acquire()
    kazoo.stop()
    kazoo.close()


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_a_full_stack_or_memory_is_no_fault_of_the_library(
    redis_server: RedisBackend, error: type[Exception]
) -> None:
    """The program gets the exception, and its client still works."""
    host, port = redis_server.address.split(":")
    pool = redis.ConnectionPool(connection_class=Odd, host=host, port=int(port))
    with (
        redis.Redis(connection_pool=pool) as theirs,
        fencepost.Client(theirs) as client,
        client.lock(redis_server.name("kept")) as kept,
    ):
        break_all(error)
        with pytest.raises(error):
            client.lock(redis_server.name()).acquire()
        mend()
        with client.lock(redis_server.name()).hold(timeout=LONG):
            assert kept.is_valid


def at_depth(room: int, call: Callable[[], object]) -> object:
    """Calls a function with room for this many frames on the stack."""
    frames, frame = 0, sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back

    def deeper(left: int) -> object:
        return call() if left <= 0 else deeper(left - 1)

    return deeper(sys.getrecursionlimit() - frames - room)


# Python drops the exception in a finalizer.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_stack_that_is_full_at_any_place_ends_no_client(backend: Backend, connect: Connect) -> None:
    ours, theirs = connect(backend.url), connect(backend.url)
    overflows = 0

    def use(name: str) -> None:
        with ours.lock(name):
            pass

    use(backend.name("warm"))
    with ours.lock(backend.name("kept"), **options(backend, 60)) as kept:
        for room in range(1, 80):
            name = backend.name(f"room{room}")
            try:
                at_depth(room, partial(use, name))
            except RecursionError:
                overflows += 1
            with theirs.lock(name).hold(timeout=LONG):
                pass
        assert kept.is_valid
    assert 0 < overflows < 79
