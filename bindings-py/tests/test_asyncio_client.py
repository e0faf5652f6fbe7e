"""The client for asyncio, on every backend."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect
from support import BRIEF, LONG, Backend, makers, options, wait_until_async, with_session


def is_queued(backend: Backend) -> bool:
    """Whether a waiter is queued behind the holder, if the server shows it."""
    return backend.kind != "zookeeper" or backend.contenders(backend.name()) == 2


async def test_a_scope_holds_the_lock(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name())
    async with lock as grant:
        assert grant.is_valid
        remaining = grant.remaining()
        assert remaining is not None
        assert 0 < remaining <= 60
        assert not grant.lost.is_set()
        await grant.extend()
    assert not grant.is_valid
    assert grant.remaining() == 0.0


async def test_two_clients_exclude_each_other(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url).lock(backend.name()) for _ in range(2))
    grant = await ours.acquire()
    assert grant is not None
    assert await theirs.acquire(blocking=False) is None
    start = time.monotonic()
    assert await theirs.acquire(timeout=BRIEF) is None
    assert BRIEF - 0.01 <= time.monotonic() - start < LONG
    await grant.release()
    second = await theirs.acquire(timeout=LONG)
    assert second is not None
    assert grant.fence is not None
    assert second.fence is not None
    assert second.fence > grant.fence
    await second.release()


async def test_tasks_lose_no_increment(backend: Backend, aconnect: AsyncConnect) -> None:
    locks = [aconnect(backend.url).lock(backend.name()) for _ in range(2)]
    count = 0

    async def work(lock: fencepost.asyncio.Lock) -> None:
        nonlocal count
        for _ in range(20):
            async with lock:
                seen = count
                await asyncio.sleep(0)
                count = seen + 1

    await asyncio.gather(*(work(locks[number % 2]) for number in range(6)))
    assert count == 120


async def test_a_client_for_threads_excludes_one_for_asyncio(
    backend: Backend, aconnect: AsyncConnect
) -> None:
    with fencepost.connect(backend.url) as client:
        lock = aconnect(backend.url).lock(backend.name())
        with client.lock(backend.name()) as grant:
            waiter = asyncio.create_task(lock.acquire())
            await wait_until_async(lambda: is_queued(backend), "the waiter is in the line")
            assert not waiter.done()
            grant.release()
        second = await asyncio.wait_for(waiter, LONG)
        assert second is not None
        await second.release()


async def test_hold_is_a_scope_with_a_limit(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url).lock(backend.name()) for _ in range(2))
    async with ours.hold(timeout=LONG):
        with pytest.raises(fencepost.NotAcquired) as late:
            async with theirs.hold(timeout=BRIEF):
                pytest.fail("two holders")
        with pytest.raises(fencepost.NotAcquired) as tried:
            async with theirs.hold(blocking=False):
                pytest.fail("two holders")
    assert (late.value.code, tried.value.code) == (301, 302)
    assert str(late.value).startswith(f"{backend.name()}: another contender held the lock")
    assert str(tried.value).startswith(f"{backend.name()}: another contender holds the lock")


async def test_a_cancelled_acquire_withdraws(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url).lock(backend.name()) for _ in range(2))
    grant = await ours.acquire()
    assert grant is not None
    waiter = asyncio.create_task(theirs.acquire())
    await asyncio.sleep(0)
    await wait_until_async(lambda: is_queued(backend), "the waiter is in the line")
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    if backend.kind == "zookeeper":
        await wait_until_async(lambda: backend.contenders(backend.name()) == 1, "its node is gone")
    await grant.release()
    async with ours.hold(timeout=LONG):
        pass


async def test_a_timeout_of_asyncio_withdraws_too(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url).lock(backend.name()) for _ in range(2))
    async with ours:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(theirs.acquire(), 0.1)
    async with ours.hold(timeout=LONG):
        pass


async def test_a_cancelled_body_releases(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name())
    inside = asyncio.Event()

    async def body() -> None:
        async with lock:
            inside.set()
            await asyncio.sleep(LONG)

    task = asyncio.create_task(body())
    await asyncio.wait_for(inside.wait(), LONG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with lock.hold(timeout=LONG):
        pass


async def test_a_loss_cancels_the_body(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name(), max_hold=0.1)
    with pytest.raises(fencepost.LockLost) as error:
        async with lock as grant:
            await asyncio.sleep(LONG)
    assert error.value.name == "max-hold"
    assert grant.lost.is_set()
    task = asyncio.current_task()
    assert task is not None
    if hasattr(task, "cancelling"):
        assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_a_loss_leaves_the_body_alone_if_it_is_kept(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name(), max_hold=0.1, on_lost="keep")
    finished = False
    with pytest.raises(fencepost.LockLost):
        async with lock as grant:
            await asyncio.wait_for(grant.lost.wait(), LONG)
            await asyncio.sleep(0)
            finished = True
    assert finished


async def test_a_cancellation_from_outside_stays_one(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name(), max_hold=0.1)

    async def body() -> None:
        async with lock as grant:
            try:
                await grant.lost.wait()
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                outer.cancel()
                raise

    outer = asyncio.create_task(body())
    with pytest.raises(asyncio.CancelledError):
        await outer


async def test_a_body_that_catches_the_cancellation_still_loses(
    backend: Backend, aconnect: AsyncConnect
) -> None:
    lock = aconnect(backend.url).lock(backend.name(), max_hold=0.1)
    with pytest.raises(fencepost.LockLost):
        async with lock:
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                pass
    await asyncio.sleep(0)


async def test_a_grant_is_a_scope_too(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name(), max_hold=0.1)
    grant = await lock.acquire(timeout=LONG)
    assert grant is not None
    with pytest.raises(fencepost.LockLost):
        async with grant:
            await asyncio.sleep(LONG)


async def test_a_grant_that_is_held_long_stays_valid(server: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(with_session(server.url, 9_000)).lock(server.name(), **options(server, 9))
    async with lock as grant:
        # This is longer than the lease that was granted.
        end = time.monotonic() + 9.1
        while time.monotonic() < end:
            assert grant.is_valid
            await asyncio.sleep(0.01)


async def test_a_dropped_grant_is_released(backend: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(backend.url).lock(backend.name())
    grant = await lock.acquire()
    assert grant is not None
    del grant
    gc.collect()
    async with lock.hold(timeout=LONG):
        pass


async def test_close_releases_and_wakes(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url) for _ in range(2))
    lock = ours.lock(backend.name())
    grant = await lock.acquire()
    assert grant is not None
    waiter = asyncio.create_task(lock.acquire())
    await asyncio.sleep(0)
    await wait_until_async(lambda: is_queued(backend), "the waiter is in the line")
    await ours.close()
    with pytest.raises(fencepost.MisuseError) as error:
        await waiter
    assert error.value.name == "client-closed"
    await ours.close()
    async with theirs.lock(backend.name()).hold(timeout=LONG):
        pass
    for call in (lock.acquire, ours.__aenter__):
        with pytest.raises(fencepost.MisuseError) as closed:
            await call()
        assert closed.value.code == 207
    for make in makers(ours, backend):
        with pytest.raises(fencepost.MisuseError) as closed:
            make()
        assert closed.value.code == 207
    for end in (grant.release, grant.extend):
        with pytest.raises(fencepost.LockLost) as lost:
            await end()
        assert lost.value.code == 406


async def test_a_forgotten_client_warns_and_releases(backend: Backend, aconnect: AsyncConnect) -> None:
    client = fencepost.asyncio.connect(backend.url)
    grant = await client.lock(backend.name()).acquire()
    assert grant is not None
    forgotten = [client, grant]
    del client, grant
    with pytest.warns(ResourceWarning, match="unclosed"):
        forgotten.clear()
    async with aconnect(backend.url).lock(backend.name()).hold(timeout=LONG):
        pass


async def test_a_closed_client_leaves_nothing_running(backend: Backend) -> None:
    threads, tasks = set(threading.enumerate()), asyncio.all_tasks()
    async with fencepost.asyncio.connect(backend.url) as client, client.lock(backend.name()):
        assert await client.lock(backend.name()).acquire(timeout=BRIEF) is None
    await wait_until_async(lambda: set(threading.enumerate()) <= threads, "its threads have ended")
    assert asyncio.all_tasks() == tasks


def test_without_a_loop_there_is_no_client(backend: Backend) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        fencepost.asyncio.connect("memory:")
    assert backend.prefix
