"""Read/write locks, semaphores, elections and layouts, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect
from support import BRIEF, LONG, Backend, ZooKeeperBackend, wait_until_async
from test_kinds import place

__all__ = ["place"]


async def take(lock: fencepost.asyncio.Lock) -> fencepost.asyncio.Grant:
    """Acquires a lock that must be granted soon."""
    grant = await lock.acquire(timeout=LONG)
    assert grant is not None
    return grant


@pytest.mark.parametrize("layout", [None, "kazoo"])
async def test_readers_share(
    place: Backend, aconnect: AsyncConnect, layout: fencepost.SharedLayout | None
) -> None:
    ours, theirs = (aconnect(place.url).read_write_lock("prices", layout=layout) for _ in range(2))
    async with ours.reader, theirs.reader:
        assert await ours.writer.acquire(blocking=False) is None
    async with theirs.writer:
        assert await ours.reader.acquire(timeout=BRIEF) is None
        assert await ours.writer.acquire(blocking=False) is None
    assert "fencepost.asyncio.ReadWriteLock 'prices'" in repr(ours)


async def test_elections_have_terms(place: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(place.url).election("scheduler") for _ in range(2))
    term = await ours.campaign()
    assert term is not None
    waiting = asyncio.create_task(theirs.campaign(timeout=LONG))
    await asyncio.sleep(0)
    await term.release()
    second = await waiting
    assert second is not None
    await second.release()
    assert "fencepost.asyncio.Election" in repr(ours)


async def test_a_term_that_is_lost_cancels_its_body(place: Backend, aconnect: AsyncConnect) -> None:
    election = aconnect(place.url).election("scheduler", max_hold=0.05)
    with pytest.raises(fencepost.LockLost) as error:
        async with election:
            await asyncio.sleep(LONG)
    assert error.value.name == "max-hold"
    kept = aconnect(place.url).election("scheduler", max_hold=0.05, on_lost="keep")
    with pytest.raises(fencepost.LockLost):
        async with kept as term:
            await asyncio.wait_for(term.lost.wait(), LONG)


async def test_another_client_requests_the_lock(zookeeper: ZooKeeperBackend, aconnect: AsyncConnect) -> None:
    async with aconnect(zookeeper.url).lock("stock", revocable=True) as grant:
        assert not await grant.wait_revoke_requested(timeout=0.01)
        (child,) = zookeeper.children("stock")
        zookeeper.client.set(f"{zookeeper.directory('stock')}/{child}", b"__REVOKE__")
        assert await asyncio.wait_for(grant.wait_revoke_requested(), LONG)
        assert grant.revoke_requested


async def fail_to_enter(scope: fencepost.asyncio.Scope) -> None:
    """Enters a block whose lock another contender holds."""
    with pytest.raises(fencepost.NotAcquired):
        async with scope:
            pass


async def test_foreign_contenders_are_reported(place: Backend, aconnect: AsyncConnect) -> None:
    client = aconnect(place.url)
    ours, theirs = client.lock("stock"), aconnect(place.url).lock("stock", layout="kazoo")
    async with ours:
        attempts: list[Callable[[], Awaitable[object]]] = [
            lambda: theirs.acquire(timeout=BRIEF),
            lambda: fail_to_enter(theirs.hold(blocking=False)),
        ]
        for fails in attempts:
            with pytest.warns(fencepost.MixedLayoutsWarning, match="-lock-0000000000") as seen:
                assert await fails() is None
            assert seen[0].filename == __file__
    grant = await take(theirs)
    waiting = asyncio.create_task(ours.acquire(timeout=LONG))
    contenders = client._engine._contenders
    # Its node may exist before its client has seen the other contender's node.
    await wait_until_async(lambda: any(each.mixed_layouts for each in [*contenders.values()]), "it waits")

    async def release_and_wait() -> fencepost.asyncio.Grant | None:
        await grant.release()
        return await waiting

    with pytest.warns(fencepost.MixedLayoutsWarning):
        second = await release_and_wait()
    assert second is not None
    assert "__lock__" in str(second.mixed_layouts)
    await second.release()


async def test_bad_input(aconnect: AsyncConnect) -> None:
    client, redis = aconnect("memory:"), aconnect("redis://localhost:1")
    anything: Any = "ignore"
    for call, name in (
        (lambda: client.semaphore("a", 0), "invalid-option"),
        (lambda: client.lock("a", layout=anything), "invalid-option"),
        (lambda: client.read_write_lock("a", layout=anything), "invalid-option"),
        (lambda: client.lock("a", identifier="x" * 2000), "invalid-option"),
        (lambda: client.election("a", on_lost=anything), "unreadable-settings"),
        (lambda: redis.election("a"), "unknown-option"),
        (lambda: redis.semaphore("a", 1), "unknown-option"),
        (lambda: redis.read_write_lock("a"), "unknown-option"),
        (lambda: redis.lock("a", layout="kazoo"), "unknown-option"),
    ):
        with pytest.raises(fencepost.ConfigError) as error:
            call()
        assert error.value.name == name


async def test_missing_rights(zookeeper: ZooKeeperBackend, aconnect: AsyncConnect) -> None:
    from kazoo.security import make_acl

    zookeeper.client.ensure_path(f"/{zookeeper.prefix}")
    zookeeper.client.create(zookeeper.directory("a"), acl=[make_acl("world", "anyone", read=True)])
    with pytest.raises(fencepost.Refused) as error:
        await aconnect(zookeeper.url).read_write_lock("a").writer.acquire()
    assert error.value.name == "no-permission"
    await wait_until_async(lambda: zookeeper.contenders("a") == 0, "nothing is left")
