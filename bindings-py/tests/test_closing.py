"""The close of a client: its effect on grants, waiters, other closes and the server, and interrupts."""

from __future__ import annotations

import asyncio
import itertools
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from conftest import AsyncConnect, Connect
from support import (
    LONG,
    Backend,
    Control,
    Interrupted,
    RedisBackend,
    options,
    sockets,
    wait_until,
    wait_until_async,
    with_session,
)


def test_closing_ends_grants_aloud(backend: Backend, connect: Connect) -> None:
    ours, theirs = (connect(backend.url) for _ in range(2))
    lock = ours.lock(backend.name())
    inside, closed = threading.Event(), threading.Event()
    results: list[object] = []

    def work() -> None:
        try:
            with lock as grant:
                lost = grant.lost
                inside.set()
                assert lost.wait(LONG)
                results.append(grant.is_valid)
                closed.wait(LONG)
                # An event that the program gets only now is set, too.
                results.append(grant.lost.is_set())
        except fencepost.LockLost as error:
            results.append(error.name)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(LONG)
    ours.close()
    closed.set()
    thread.join(LONG)
    assert results == [False, True, "lost-connection-closed"]
    with theirs.lock(backend.name()).hold(timeout=LONG):
        pass


def test_a_block_that_closes_its_client_loses_its_lock(connect: Connect) -> None:
    client = connect("memory:")
    with pytest.raises(fencepost.LockLost, match="client was closed"), client.lock("a"):
        client.close()
    with pytest.raises(KeyError) as error, connect("memory:") as other, other.lock("a"):
        other.close()
        raise KeyError("mine")
    assert "lost" in "".join(getattr(error.value, "__notes__", ["lost"]))


async def test_closing_cancels_the_blocks_of_tasks(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url) for _ in range(2))
    inside = asyncio.Event()

    async def work() -> None:
        async with ours.lock(backend.name()):
            inside.set()
            await asyncio.sleep(LONG)

    task = asyncio.create_task(work())
    await inside.wait()
    await ours.close()
    with pytest.raises(fencepost.LockLost) as error:
        await task
    assert error.value.name == "lost-connection-closed"
    async with theirs.lock(backend.name()).hold(timeout=LONG):
        pass


async def test_a_task_closes_its_own_client(backend: Backend, aconnect: AsyncConnect) -> None:
    client = aconnect(backend.url)
    ended = False
    with pytest.raises(fencepost.LockLost):
        async with client.lock(backend.name()) as grant:
            await client.close()
            assert grant.lost.is_set()
            ended = True
    assert ended
    task = asyncio.current_task()
    assert getattr(task, "cancelling", lambda: 0)() == 0


def refused(server: RedisBackend, user: Any) -> tuple[str, Callable[[], object]]:
    """The URL of a user, and a function that removes the user's right to release."""
    url = user("+@all")
    name = url.partition("://")[2].partition(":")[0]
    execute: Any = server.client.execute_command
    return url, partial(execute, "ACL", "SETUSER", name, "-eval", "-evalsha")


@pytest.fixture
def refusing(redis_server: RedisBackend, user: Any) -> Iterator[fencepost.Client]:
    """A client that holds a lock which it has no right to release."""
    url, refuse = refused(redis_server, user)
    client = fencepost.connect(url)
    grant = client.lock(redis_server.name(), ttl=60).acquire(timeout=LONG)
    assert grant is not None
    refuse()
    yield client
    assert redis_server.contenders(redis_server.name()) == 1


@pytest_asyncio.fixture
async def refusing_below_a_loop(
    redis_server: RedisBackend, user: Any
) -> AsyncIterator[fencepost.asyncio.Client]:
    """The same on a loop."""
    url, refuse = refused(redis_server, user)
    client = fencepost.asyncio.connect(url)
    grant = await client.lock(redis_server.name(), ttl=60).acquire(timeout=LONG)
    assert grant is not None
    refuse()
    yield client
    assert redis_server.contenders(redis_server.name()) == 1


def test_a_close_tells_of_a_refused_release(refusing: fencepost.Client) -> None:
    with pytest.raises(fencepost.CleanupIncomplete) as error:
        refusing.close()
    assert (error.value.name, error.value.count) == ("cleanup-incomplete", 1)
    refusing.close()


async def test_so_does_a_close_on_a_loop(refusing_below_a_loop: fencepost.asyncio.Client) -> None:
    with pytest.raises(fencepost.CleanupIncomplete) as error:
        await refusing_below_a_loop.close()
    assert (error.value.name, error.value.count) == ("cleanup-incomplete", 1)
    await refusing_below_a_loop.close()


def test_of_several_closes_one_tells_what_was_left(refusing: fencepost.Client) -> None:
    errors: list[str] = []

    def close() -> None:
        try:
            refusing.close()
        except fencepost.CleanupIncomplete as error:
            errors.append(error.name)

    threads = [threading.Thread(target=close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    refusing.close()
    assert errors == ["cleanup-incomplete"]


async def test_so_does_one_of_several_on_a_loop(refusing_below_a_loop: fencepost.asyncio.Client) -> None:
    errors = await asyncio.gather(*(refusing_below_a_loop.close() for _ in range(4)), return_exceptions=True)
    assert [type(each) for each in errors] == [fencepost.CleanupIncomplete, *[type(None)] * 3]
    await refusing_below_a_loop.close()


def test_a_close_tells_what_the_background_has_left(refusing: fencepost.Client) -> None:
    with refusing._engine.order:
        refusing.close()  # It is queued.
    wait_until(lambda: refusing._engine.disposed, "the background has closed it")
    with pytest.raises(fencepost.CleanupIncomplete):
        refusing.close()
    refusing.close()


async def test_so_it_does_on_a_loop(refusing_below_a_loop: fencepost.asyncio.Client) -> None:
    client = refusing_below_a_loop
    closing = asyncio.create_task(client.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await wait_until_async(lambda: client._engine.disposed, "the background has closed it")
    with pytest.raises(fencepost.CleanupIncomplete):
        await client.close()
    await client.close()


@pytest.mark.parametrize("cancelled", [False, True])
async def test_another_close_waits_for_the_end_of_the_first(backend: Backend, cancelled: bool) -> None:
    client = fencepost.asyncio.connect(backend.url)
    async with client.lock(backend.name()):
        pass
    driver: Any = client._driver
    close, ends, is_asked = driver.close, asyncio.Event(), asyncio.Event()

    async def close_when_told(within: float) -> None:
        is_asked.set()
        await ends.wait()
        await close(within)

    driver.close = close_when_told
    first = asyncio.create_task(client.close())
    await is_asked.wait()
    if cancelled:
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
    second = asyncio.create_task(client.close())
    done, _ = await asyncio.wait({second}, timeout=0.05)
    assert not done
    ends.set()
    await second
    assert first.done()


@pytest.mark.parametrize("again", [True, False])
def test_an_interrupted_close_is_finished(server: Backend, connect: Connect, again: bool) -> None:
    """The second close or the background finishes it. The interrupt is raised at every place in turn."""
    server.contenders(server.name())
    threads, open_sockets = set(threading.enumerate()), sockets()
    other = connect(server.url)
    for after in itertools.count(1):
        client = fencepost.connect(server.url)
        name = server.name(f"place{after}")
        grant = client.lock(name, **options(server, 60)).acquire(timeout=LONG)
        with Interrupted(after) as places:
            client.close()
        if again or not client.closed:
            client.close()
        held = other.lock(name).acquire(timeout=LONG)
        assert held is not None, places
        held.release()
        del client, grant
        if not places:
            break
    other.close()
    wait_until(lambda: set(threading.enumerate()) <= threads, "the threads have ended")
    wait_until(lambda: sockets() <= open_sockets, "the sockets are closed")


def test_a_close_that_waits_is_interrupted(server: Backend, control: Control) -> None:
    server.contenders(server.name())
    threads, open_sockets = set(threading.enumerate()), sockets()
    # Only the close ends the grant.
    client = fencepost.connect(with_session(server.url, 60_000))
    grant = client.lock(server.name(), **options(server, 60)).acquire(timeout=LONG)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    assert grant is not None
    lost, main = grant.lost, threading.main_thread().ident
    assert main is not None

    def send() -> None:
        wait_until(lost.is_set, "the close has begun, and waits for the server")
        signal.pthread_kill(main, signal.SIGALRM)

    control.do(f"pause {server.server}")
    handler = signal.signal(signal.SIGALRM, interrupt)
    sender = threading.Thread(target=send)
    try:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            client.close()
    finally:
        sender.join()
        signal.signal(signal.SIGALRM, handler)
    assert lost.is_set()
    control.do(f"resume {server.server}")
    client.close()
    wait_until(lambda: set(threading.enumerate()) <= threads, "its threads have ended")
    wait_until(lambda: sockets() <= open_sockets, "its sockets are closed")


def test_a_close_that_is_queued(connect: Connect) -> None:
    client, other = connect("memory:a"), connect("memory:a")
    second = client.lock("b").acquire()
    assert second is not None
    with client._engine.order:
        client.close()
    assert second.lost.wait(LONG)
    with other.lock("b").hold(timeout=LONG):
        pass
