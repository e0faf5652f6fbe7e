"""Clients for asyncio and their loops: one loop each, and the end of a client whose loop has ended."""

from __future__ import annotations

import asyncio
import gc
import re
import threading
import warnings
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis.asyncio
from conftest import AsyncConnect, Connect
from support import (
    BACKENDS,
    BRIEF,
    LONG,
    Backend,
    Control,
    RedisBackend,
    options,
    sockets,
    wait_until,
    wait_until_async,
    with_session,
)


def end(loop: asyncio.AbstractEventLoop) -> None:
    """Ends a loop as `asyncio.run` does, and waits for the tasks that the end of a task has begun."""
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks))
    loop.close()


class Left:
    """A client with a grant and a waiter on its own loop."""

    def __init__(self, backend: Backend, lease: float = 2) -> None:
        self.loop = asyncio.new_event_loop()
        self.found: Any = None
        """The contender that an inspection found, if the server supports that."""
        self.client, self.grant, self.waiter = self.loop.run_until_complete(self._begin(backend, lease))

    async def _begin(
        self, backend: Backend, lease: float
    ) -> tuple[fencepost.asyncio.Client, fencepost.asyncio.Grant, asyncio.Task[Any]]:
        client = fencepost.asyncio.connect(with_session(backend.url, max(4, int(lease)) * 1000))
        lock = client.lock(backend.name(), **options(backend, lease))
        grant = await lock.acquire(timeout=LONG)
        assert grant is not None
        if backend.kind != "redis":
            self.found = (await lock.contenders())[0]
        waiter = asyncio.create_task(lock.acquire())
        await asyncio.sleep(0.01)
        return client, grant, waiter


def forget(left: list[Any]) -> None:
    """Drops the clients, and waits for their warning. While another thread collects, `gc.collect` is idle."""

    def has_warned() -> bool:
        gc.collect()
        return any("unclosed <fencepost" in str(one.message) for one in warned)

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        left.clear()
        wait_until(has_warned, "the client has warned")


def calls(left: Left, name: str) -> list[Callable[[], Awaitable[object]]]:
    """All calls of a client that wait."""
    lock = left.client.lock(name)
    held = left.client.lock(left.grant.name)
    inspections: list[Callable[[], Awaitable[object]]] = [
        held.contenders,
        lambda: held.revoke(left.found),
        lambda: held.break_contender(left.found),
    ]
    return [
        *([] if left.found is None else inspections),
        lock.acquire,
        lambda: lock.acquire(blocking=False),
        lock.__aenter__,
        lock.hold().__aenter__,
        left.grant.extend,
        left.grant.release,
        left.grant.downgrade,
        left.grant.wait_revoke_requested,
        left.grant.lost.wait,
        lambda: left.grant.__aexit__(None, None, None),
        left.client.__aenter__,
        left.client.close,
    ]


def test_another_loop_is_refused(backend: Backend, connect: Connect) -> None:
    # The client does not renew it while its loop stands still.
    left = Left(backend, lease=60)
    assert not left.grant.lost.is_set()

    async def use() -> list[str]:
        texts = []
        for call in calls(left, backend.name("other")):
            with pytest.raises(fencepost.MisuseError) as error:
                await call()
            assert (error.value.code, error.value.name) == (542, "wrong-loop")
            texts.append(str(error.value))
        texts.append(f"{id(asyncio.get_running_loop()):#x}")
        return texts

    *texts, running = asyncio.run(use())
    assert all(running in text and f"{id(left.loop):#x}" in text for text in texts)
    # These calls had no effect: the grant is held as before.
    assert left.grant.is_valid
    assert connect(backend.url).lock(backend.name()).acquire(blocking=False) is None
    left.waiter.cancel()
    left.loop.run_until_complete(left.client.close())
    end(left.loop)


@pytest.mark.parametrize("place", ["memory", "zookeeper"])
@pytest.mark.parametrize("owner", [None, "request-17"])
def test_a_grant_that_a_stopped_loop_does_not_take(
    place: str, owner: str | None, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others get the lock after half a lease, and the acquire queues again when the loop continues."""
    monkeypatch.setattr("fencepost._engine.unclaimed.AT_MOST", 1_000_000)
    backend = BACKENDS[place]()
    theirs = connect(backend.url).lock(backend.name())
    held = theirs.acquire(timeout=LONG)
    assert held is not None
    loop = asyncio.new_event_loop()

    async def begin() -> tuple[fencepost.asyncio.Client, asyncio.Task[fencepost.asyncio.Grant | None]]:
        client = fencepost.asyncio.connect(backend.url)
        task = asyncio.create_task(client.lock(backend.name(), owner=owner).acquire(timeout=10 * LONG))
        await wait_until_async(lambda: len(theirs.contenders()) == 2, "it waits")
        return client, task

    client, task = loop.run_until_complete(begin())
    held.release()
    with theirs.hold(timeout=LONG) as grant:
        fence = grant.fence
    granted = loop.run_until_complete(asyncio.wait_for(task, LONG))
    assert granted is not None
    assert granted.is_valid
    assert granted.fence is not None
    assert fence is not None
    assert granted.fence > fence
    assert theirs.acquire(blocking=False) is None
    loop.run_until_complete(granted.release())
    loop.run_until_complete(client.close())
    loop.close()
    backend.clean()


@pytest.mark.parametrize("place", ["memory", "zookeeper"])
async def test_a_claim_that_was_taken_is_not_given_back(
    place: str, connect: Connect, aconnect: AsyncConnect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other attempt gets the operation before the end of the claim."""
    monkeypatch.setattr("fencepost._engine.unclaimed.AT_MOST", 100_000)
    backend = BACKENDS[place]()
    theirs = connect(backend.url).idempotency(backend.name())
    async with aconnect(backend.url).idempotency(backend.name()).claim("order-17") as claim:
        with pytest.raises(fencepost.InProgress):
            await asyncio.to_thread(theirs.claim, "order-17", timeout=BRIEF)
        assert claim.is_valid
        await claim.complete("receipt")
    assert theirs.claim("order-17").result == "receipt"
    backend.clean()


def test_a_claim_that_a_stopped_loop_does_not_take(
    zookeeper: Backend, connect: Connect, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operation has not run: others claim it without a takeover. The call claims it again."""
    monkeypatch.setattr("fencepost._engine.unclaimed.AT_MOST", 3_000_000)
    theirs = connect(zookeeper.url).idempotency(zookeeper.name())
    assert theirs.look("order-17") is None  # Now the client is connected.
    loop = asyncio.new_event_loop()

    async def begin() -> tuple[fencepost.asyncio.Client, asyncio.Future[fencepost.asyncio.Claim]]:
        client = fencepost.asyncio.connect(with_session(zookeeper.url, 30_000))
        async with client.lock(zookeeper.name("warm")):
            pass
        control.do("pause zookeeper")
        task = asyncio.ensure_future(client.idempotency(zookeeper.name()).claim("order-17"))
        await asyncio.sleep(0)
        return client, task

    client, task = loop.run_until_complete(begin())
    control.do("resume zookeeper")
    wait_until(lambda: theirs.look("order-17"), "it is claimed")
    with theirs.claim("order-17", timeout=LONG) as claim:
        assert claim.takeovers == 0
        claim.release()
    claimed = loop.run_until_complete(asyncio.wait_for(task, LONG))
    assert (claimed.is_valid, claimed.takeovers) == (True, 0)
    loop.run_until_complete(client.close())
    loop.close()


@pytest.mark.parametrize("how", [{"blocking": False}, {"timeout": 0.2}], ids=["try", "late"])
def test_an_acquire_without_time_left_tries_once_more(
    zookeeper: Backend,
    connect: Connect,
    control: Control,
    monkeypatch: pytest.MonkeyPatch,
    how: dict[str, Any],
) -> None:
    monkeypatch.setattr("fencepost._engine.unclaimed.AT_MOST", 3_000_000)
    theirs = connect(zookeeper.url).lock(zookeeper.name())
    loop = asyncio.new_event_loop()

    async def begin() -> tuple[fencepost.asyncio.Client, asyncio.Task[fencepost.asyncio.Grant | None]]:
        client = fencepost.asyncio.connect(with_session(zookeeper.url, 30_000))
        async with client.lock(zookeeper.name("warm")):
            pass
        control.do("pause zookeeper")
        task = asyncio.create_task(client.lock(zookeeper.name()).acquire(**how))
        await asyncio.sleep(0)
        return client, task

    client, task = loop.run_until_complete(begin())
    control.do("resume zookeeper")
    wait_until(lambda: zookeeper.contenders(zookeeper.name()) == 1, "it is granted")
    with theirs.hold(timeout=LONG):
        assert not task.done()
    granted = loop.run_until_complete(asyncio.wait_for(task, LONG))
    assert granted is not None
    assert granted.is_valid
    loop.run_until_complete(client.close())
    loop.close()


def test_what_a_loop_leaves_is_given_back(backend: Backend, connect: Connect) -> None:
    """The lock is free at once if the client can still release it, and otherwise when the lease ends."""
    other = connect(backend.url)
    left = [Left(backend)]
    end(left[0].loop)
    forget(left)
    with other.lock(backend.name()).hold(timeout=LONG):
        pass


@pytest.mark.parametrize("waits", [False, True], ids=["later", "waits"])
@pytest.mark.parametrize("place", ["memory", "zookeeper"])
def test_it_is_given_back_also_if_the_program_keeps_the_client(
    place: str, waits: bool, connect: Connect
) -> None:
    """For example, the frames of an exception that has ended `asyncio.run` refer to the client."""
    backend = BACKENDS[place]()
    url = f"{backend.url}?session_timeout=4000" if place == "memory" else backend.url
    other = connect(url).lock(backend.name())
    left = [Left(backend)]
    left[0].waiter.cancel()
    # A reply after the end of the loop would also release the lock.
    left[0].loop.run_until_complete(asyncio.sleep(BRIEF / 2))
    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(other.acquire, timeout=LONG / 3) if waits else None
        if waits:
            wait_until(lambda: len(other.contenders()) == 2, "it waits")
        end(left[0].loop)
        granted = other.acquire(timeout=LONG / 3) if waiter is None else waiter.result()
    assert granted is not None
    assert left[0].client.closed
    assert left[0].grant.lost.is_set()
    granted.release()
    forget(left)
    backend.clean()


def test_a_client_without_a_loop_leaves_no_thread(backend: Backend) -> None:
    before = set(threading.enumerate())
    left = [Left(backend)]
    end(left[0].loop)
    forget(left)
    wait_until(lambda: set(threading.enumerate()) <= before, "its threads have ended")


def test_the_client_warns_also_if_a_dropped_grant_has_ended_it(backend: Backend) -> None:
    left = [Left(backend)]
    end(left[0].loop)
    del left[0].grant, left[0].waiter
    wait_until(lambda: gc.collect() or left[0].client.closed, "the client has ended")
    forget(left)


def test_a_loop_that_ends_as_a_connection_is_made_ends(
    redis_server: RedisBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Python 3.12, `wait_for` drops a cancellation that arrives together with its result."""
    connect: Callable[[Any], Awaitable[None]] = redis.asyncio.Connection.connect
    cancelled: list[asyncio.Task[Any]] = []

    async def connect_and_end(connection: redis.asyncio.Connection) -> None:
        await connect(connection)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            if "DriverConnection._run" in repr(task):
                asyncio.get_running_loop().call_soon(task.cancel)
                cancelled.append(task)

    monkeypatch.setattr(redis.asyncio.Connection, "connect", connect_and_end)

    async def use() -> None:
        client = fencepost.asyncio.connect(redis_server.url)
        acquire = asyncio.create_task(client.lock(redis_server.name()).acquire(timeout=LONG))
        await wait_until_async(lambda: len(cancelled) > 0, "a connection is made")
        _, pending = await asyncio.wait(cancelled, timeout=LONG)
        assert not pending
        acquire.cancel()
        await client.close()

    asyncio.run(use())


def test_others_do_not_hear_of_a_loop_that_has_ended(connect: Connect) -> None:
    """In memory, clients wake each other: a waiter on a closed loop breaks no other client's release."""
    backend = Backend()
    ours = connect(backend.url)
    grant = ours.lock(backend.name()).acquire()
    assert grant is not None

    async def wait() -> tuple[fencepost.asyncio.Client, asyncio.Task[Any]]:
        client = fencepost.asyncio.connect(backend.url)
        waiter = asyncio.create_task(client.lock(backend.name()).acquire())
        await wait_until_async(lambda: len(ours.lock(backend.name()).contenders()) == 2, "it waits")
        return client, waiter

    loop = asyncio.new_event_loop()
    client, waiter = loop.run_until_complete(wait())
    waiter._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    grant.release()
    for _ in range(3):
        with ours.lock(backend.name()).hold(timeout=LONG):
            pass
    assert client.closed
    left: list[Any] = [client, waiter]
    del client, waiter
    forget(left)


@pytest.mark.parametrize("how", ["twice", "in a scope"])
async def test_a_cancelled_close_goes_on(server: Backend, how: str) -> None:
    async def use() -> None:
        async with fencepost.asyncio.connect(server.url) as client, client.lock(server.name()):
            pass

    def waits() -> bool:
        if isinstance(server, RedisBackend):
            return server.is_listened_to(server.name())
        return server.contenders(server.name()) == 2

    server.contenders(server.name())
    tasks, threads, open_sockets = asyncio.all_tasks(), set(threading.enumerate()), sockets()
    async with fencepost.asyncio.connect(server.url) as holder, holder.lock(server.name()):
        busy = len(asyncio.all_tasks())
        for _ in range(10):
            task = asyncio.create_task(use())
            await wait_until_async(waits, "it waits")
            task.cancel()
            await asyncio.sleep(0)
            for _ in range(1 if how == "twice" else 50):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            await wait_until_async(lambda: not waits(), "it has withdrawn")
            # On Redis the holder also subscribes, when the first waiter arrives.
            await wait_until_async(lambda: len(asyncio.all_tasks()) <= busy + 1, "its tasks have ended")
    await wait_until_async(lambda: set(threading.enumerate()) <= threads, "the threads have ended")
    await wait_until_async(lambda: sockets() <= open_sockets, "the connections are closed")
    assert asyncio.all_tasks() == tasks


def test_the_error_shows_both_loops() -> None:
    """The client distinguishes two loops that look the same."""
    loop = asyncio.new_event_loop()

    async def make() -> fencepost.asyncio.Client:
        return fencepost.asyncio.connect("memory:")

    client = loop.run_until_complete(make())
    with pytest.raises(fencepost.MisuseError, match=re.escape(f"{id(loop):#x}")):
        asyncio.run(client.close())
    loop.run_until_complete(client.close())
    loop.close()
