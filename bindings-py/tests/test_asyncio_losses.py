"""Grants that are lost, for asyncio: the body is cancelled, and a waiter gets the lock."""

from __future__ import annotations

import asyncio
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect
from support import (
    LONG,
    Backend,
    Control,
    RedisBackend,
    ZooKeeperBackend,
    long_lease,
    options,
    wait_until_async,
    with_session,
)


def start_waiter(lock: fencepost.asyncio.Lock) -> asyncio.Task[fencepost.asyncio.Grant | None]:
    return asyncio.create_task(lock.acquire())


async def give_back(waiter: asyncio.Task[fencepost.asyncio.Grant | None]) -> fencepost.asyncio.Grant:
    """Checks that the waiter got the lock, and releases it."""
    grant = await asyncio.wait_for(waiter, LONG)
    assert grant is not None
    await grant.release()
    return grant


async def wait_for_line(backend: Backend, count: int) -> None:
    if isinstance(backend, RedisBackend):
        await wait_until_async(lambda: backend.is_listened_to(backend.name()), "a waiter listens")
    else:
        await wait_until_async(
            lambda: backend.contenders(backend.name()) == count, f"{count} stand in the line"
        )


async def test_the_lock_is_deleted(server: Backend, aconnect: AsyncConnect) -> None:
    # The lease must not end before the client notices the deletion, which must be the reason of the loss.
    url, lease = with_session(server.url, 60_000), options(server, 9)
    lock = aconnect(url).lock(server.name(), **lease)
    with pytest.raises(fencepost.LockLost) as error:
        async with lock as grant:
            waiter = start_waiter(aconnect(url).lock(server.name(), **lease))
            await wait_for_line(server, 2)
            server.delete(server.name())
            await asyncio.sleep(LONG)
    assert error.value.code in (403, 404)
    assert grant.lost.is_set()
    assert not grant.is_valid
    with pytest.raises(fencepost.LockLost):
        await grant.release()
    with pytest.raises(fencepost.LockLost):
        await grant.extend()
    second = await give_back(waiter)
    assert grant.fence is not None
    assert second.fence is not None
    assert second.fence > grant.fence


@pytest.mark.parametrize("on_lost", ["cancel", "keep"])
async def test_a_grant_that_is_lost_before_its_block(
    backend: Backend, aconnect: AsyncConnect, on_lost: fencepost.asyncio.OnLost
) -> None:
    lock = aconnect(backend.url).lock(backend.name(), max_hold=0.1, on_lost=on_lost)
    grant = await lock.acquire(timeout=LONG)
    assert grant is not None
    await grant.lost.wait()
    ran = False
    with pytest.raises(fencepost.LockLost):
        async with grant:
            ran = True
    assert ran == (on_lost == "keep")


async def test_the_session_expires(
    zookeeper: ZooKeeperBackend, aconnect: AsyncConnect, control: Control
) -> None:
    client = aconnect(zookeeper.url)
    with pytest.raises(fencepost.LockLost) as error:
        async with client.lock(zookeeper.name()):
            waiter = start_waiter(aconnect(zookeeper.url).lock(zookeeper.name()))
            await wait_for_line(zookeeper, 2)
            driver: Any = client._driver
            session, password = driver._driver.client.client_id
            await asyncio.to_thread(control.do, f"expire zookeeper {session} {password.hex()}")
            await asyncio.sleep(LONG)
    assert error.value.name in ("session-expired", "lease-ended")
    await give_back(waiter)
    async with client.lock(zookeeper.name()).hold(timeout=LONG):
        pass


@pytest.mark.parametrize(("down", "up"), [("pause", "resume"), ("stop", "start"), ("kill", "start")])
async def test_the_server_goes_away_for_long(
    server: Backend, aconnect: AsyncConnect, control: Control, down: str, up: str
) -> None:
    lock = aconnect(server.url).lock(server.name(), **options(server))
    with pytest.raises(fencepost.LockLost) as error:
        async with lock:
            waiter = start_waiter(aconnect(server.url).lock(server.name(), **options(server)))
            await wait_for_line(server, 2)
            await asyncio.to_thread(control.do, f"{down} {server.server}")
            await asyncio.sleep(LONG)
    assert error.value.name in ("lease-ended", "session-expired")
    await asyncio.to_thread(control.do, f"{up} {server.server}")
    await give_back(waiter)
    async with lock.hold(timeout=LONG):
        pass


@pytest.mark.parametrize("number", [1, 2])
async def test_a_lost_reply_leaves_no_orphaned_lock(
    server: Backend, aconnect: AsyncConnect, control: Control, number: int
) -> None:
    proxy = control.do(f"proxy {server.server}")
    lock = aconnect(server.at(proxy["address"])).lock(server.name(), **options(server))
    async with lock:
        pass
    control.do(f"proxy-drop-replies {proxy['id']} {number}")
    async with lock.hold(timeout=LONG) as grant:
        assert grant.is_valid
        assert await lock.acquire(blocking=False) is None
    await wait_until_async(
        lambda: control.do(f"proxy-count {proxy['id']}")["replies_lost"] == 1, "a reply was lost"
    )
    await wait_until_async(lambda: server.contenders(server.name()) == 0, "nothing is left")
    async with lock.hold(timeout=LONG):
        pass


async def test_a_server_that_is_not_there(server: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(server.at("127.0.0.1:1")).lock(server.name())
    with pytest.raises(fencepost.Refused) as error:
        await lock.acquire(timeout=0.3)
    assert error.value.name == "unreachable"


async def test_a_server_that_says_nothing(server: Backend, aconnect: AsyncConnect, control: Control) -> None:
    control.do(f"pause {server.server}")
    lock = aconnect(server.url).lock(server.name(), answer_within=0.3)
    for wait in ({"timeout": 0.3}, {"blocking": False}):
        with pytest.raises(fencepost.Refused) as error:
            await lock.acquire(**wait)
        assert error.value.name == "unreachable"


async def test_a_release_without_a_confirmation(
    server: Backend, aconnect: AsyncConnect, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.asyncio._calls.CONFIRM_WITHIN", 0.3)
    proxy = control.do(f"proxy {server.server}")
    client = aconnect(with_session(server.at(proxy["address"]), 10000))
    lock = client.lock(server.name(), **long_lease(server))
    grant = await lock.acquire()
    assert grant is not None
    control.do(f"proxy-hold {proxy['id']}")
    with pytest.raises(fencepost.ReleaseUnconfirmed):
        await grant.release()
    control.do(f"proxy-pass {proxy['id']}")
    await wait_until_async(lambda: server.contenders(server.name()) == 0, "it is released in the background")
    await wait_until_async(lambda: client._engine.hub.pending == 0, "the server has said so")


async def test_a_close_that_has_to_leave_something(
    server: Backend, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.asyncio._client.CONFIRM_WITHIN", 0.3)
    proxy = control.do(f"proxy {server.server}")
    client = fencepost.asyncio.connect(server.at(proxy["address"]))
    grant = await client.lock(server.name(), **options(server)).acquire()
    assert grant is not None
    control.do(f"proxy-hold {proxy['id']}")
    with pytest.raises(fencepost.CleanupIncomplete) as error:
        await client.close()
    assert error.value.count == 1
