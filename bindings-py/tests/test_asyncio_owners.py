"""Owners that acquire a lock which they already hold, for asyncio."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect
from support import LONG, Backend, Control, options, wait_until_async, with_session
from test_asyncio_kinds import place, take

__all__ = ["place"]


async def is_free(lock: fencepost.asyncio.Lock) -> bool:
    """Whether no client holds the lock."""
    grant = await lock.acquire(blocking=False)
    if grant is not None:
        await grant.release()
    return grant is not None


async def test_dropped_grants(backend: Backend, aconnect: AsyncConnect) -> None:
    mine = aconnect(backend.url).lock(backend.name(), owner="request-17")
    theirs = aconnect(backend.url).lock(backend.name())
    grants = [await take(mine), await take(mine)]
    grants.pop()
    gc.collect()
    assert not await is_free(theirs)
    grants.clear()
    gc.collect()
    await (await take(theirs)).release()


async def test_an_owner_that_waits_is_busy(backend: Backend, aconnect: AsyncConnect) -> None:
    mine = aconnect(backend.url).lock(backend.name(), owner="request-17")
    theirs = await take(aconnect(backend.url).lock(backend.name()))
    waiting = asyncio.create_task(take(mine))
    await asyncio.sleep(0)
    with pytest.raises(fencepost.MisuseError) as error:
        await mine.acquire()
    assert (error.value.code, error.value.name) == (204, "busy")
    # After the cancellation of an acquire, the owner can acquire again at once.
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not await is_free(mine)
    waiting = asyncio.create_task(take(mine))
    await asyncio.sleep(0)
    await theirs.release()
    outer = await waiting
    async with mine:
        await outer.release()
        assert not await is_free(aconnect(backend.url).lock(backend.name()))


async def test_cancelled_when_it_is_granted_and_entered(backend: Backend, aconnect: AsyncConnect) -> None:
    client = aconnect(backend.url)
    mine = client.lock(backend.name(), owner="request-17")
    theirs = aconnect(backend.url).lock(backend.name())
    for _ in range(3):
        foreign = await take(theirs)
        first = asyncio.create_task(mine.acquire())
        await wait_until_async(lambda: client._engine.hub.pending, "it waits")
        await foreign.release()
        entered = None
        while entered is None:
            try:
                entered = await mine.acquire(timeout=LONG)
            except fencepost.MisuseError:
                await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            if (done := await first) is not None:  # The acquire was faster than the cancellation.
                await done.release()
                raise asyncio.CancelledError
        assert entered.is_valid
        assert not await is_free(theirs)
        await entered.release()
        assert await is_free(theirs)


async def test_a_loss_cancels_every_body(backend: Backend, aconnect: AsyncConnect) -> None:
    client = aconnect(backend.url)
    mine = client.lock(backend.name(), owner="request-17", max_hold=2)
    grant = await take(mine)
    done = await take(mine)
    await done.release()

    async def body() -> None:
        async with mine:
            await asyncio.sleep(LONG)

    results = await asyncio.gather(body(), body(), return_exceptions=True)
    assert [type(result) for result in results] == [fencepost.LockLost] * 2
    assert grant.lost.is_set()
    assert not done.lost.is_set()
    again = await take(client.lock(backend.name(), owner="request-17"))
    with pytest.raises(fencepost.LockLost):
        await grant.release()
    assert again.is_valid
    await again.release()


async def test_closing_releases_once(backend: Backend, aconnect: AsyncConnect) -> None:
    client = aconnect(backend.url)
    mine = client.lock(backend.name(), owner="request-17")
    outer, inner = await take(mine), await take(mine)
    await client.close()
    with pytest.raises(fencepost.MisuseError) as error:
        await mine.acquire()
    assert error.value.name == "client-closed"
    for call in (outer.release, inner.release):
        with pytest.raises(fencepost.LockLost) as lost:
            await call()
        assert lost.value.name == "lost-connection-closed"
    await (await take(aconnect(backend.url).lock(backend.name()))).release()


async def test_nothing_is_sent_to_enter_again(
    server: Backend, control: Control, aconnect: AsyncConnect
) -> None:
    proxy = control.do(f"proxy {server.server}")
    url = with_session(server.at(proxy["address"]), 40000)
    lock = aconnect(url).lock(server.name(), owner="request-17", **options(server, 120))
    async with lock:
        pass
    outer = await take(lock)
    control.do(f"proxy-reset {proxy['id']}")
    for _ in range(10):
        async with lock, lock.hold(timeout=1):
            pass
    assert control.do(f"proxy-count {proxy['id']}")["total"] == 0
    await outer.release()


async def test_the_sides_of_a_lock(place: Backend, aconnect: AsyncConnect) -> None:
    mine = aconnect(place.url).read_write_lock("prices", owner="request-17")
    theirs = aconnect(place.url).read_write_lock("prices")
    async with mine.reader as share:
        with pytest.raises(fencepost.MisuseError) as error:
            await mine.writer.acquire()
        assert (error.value.code, error.value.name) == (209, "upgrade")
        assert share.is_valid
        assert await is_free(theirs.reader)
    async with mine.writer as writer:
        share = await take(mine.reader)
        assert share.fence == writer.fence
        waiting = asyncio.create_task(take(theirs.reader))
        assert not await is_free(theirs.reader)
    # The owner keeps the reader, and others get it, too.
    other = await waiting
    assert share.is_valid
    assert not await is_free(theirs.writer)
    await share.release()
    await other.release()
    assert await is_free(theirs.writer)


async def test_bad_input(aconnect: AsyncConnect) -> None:
    client = aconnect("memory:")
    anything: Any = 17
    for owner in ("", "o" * 1025, anything):
        with pytest.raises(fencepost.ConfigError, match="owner"):
            client.lock("x", owner=owner)
    lock = client.lock("x", owner="request-17")
    async with lock:
        with pytest.raises(fencepost.ConfigError):
            await lock.acquire(timeout=0)
