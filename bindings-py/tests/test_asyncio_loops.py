"""Clients for asyncio and their loops: one loop each, and what becomes of a client whose loop has ended."""

from __future__ import annotations

import asyncio
import gc
import re
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import Connect
from support import LONG, Backend, RedisBackend, options, wait_until, wait_until_async


def end(loop: asyncio.AbstractEventLoop) -> None:
    """Ends a loop as `asyncio.run` does, and waits for what the end of a task has begun."""
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks))
    loop.close()


class Left:
    """A client with a grant and a waiter on a loop of its own."""

    def __init__(self, backend: Backend) -> None:
        self.loop = asyncio.new_event_loop()
        self.client, self.grant, self.waiter = self.loop.run_until_complete(self._begin(backend))

    async def _begin(
        self, backend: Backend
    ) -> tuple[fencepost.asyncio.Client, fencepost.asyncio.Grant, asyncio.Task[Any]]:
        client = fencepost.asyncio.connect(backend.url)
        lock = client.lock(backend.name(), **options(backend, 2))
        grant = await lock.acquire(timeout=LONG)
        assert grant is not None
        waiter = asyncio.create_task(lock.acquire())
        await asyncio.sleep(0.01)
        return client, grant, waiter


def forget(left: list[Left]) -> None:
    """Drops them."""
    left.clear()
    gc.collect()


def calls(left: Left, name: str) -> list[Callable[[], Awaitable[object]]]:
    """Everything of a client that waits."""
    lock = left.client.lock(name)
    return [
        lock.acquire,
        lambda: lock.acquire(blocking=False),
        lock.__aenter__,
        lock.hold().__aenter__,
        left.grant.extend,
        left.grant.release,
        left.grant.downgrade,
        left.grant.wait_revoke_requested,
        left.client.__aenter__,
        left.client.close,
    ]


def test_another_loop_is_refused(backend: Backend, connect: Connect) -> None:
    left = Left(backend)

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
    # Nothing has come of it: the grant is held as before.
    assert left.grant.is_valid
    assert connect(backend.url).lock(backend.name()).acquire(blocking=False) is None
    left.waiter.cancel()
    left.loop.run_until_complete(left.client.close())
    end(left.loop)


def test_what_a_loop_leaves_is_given_back(backend: Backend, connect: Connect) -> None:
    """At once where somebody is left to do it, and with the lease otherwise."""
    other = connect(backend.url)
    left = [Left(backend)]
    end(left[0].loop)
    with pytest.warns(ResourceWarning):
        forget(left)
    with other.lock(backend.name()).hold(timeout=LONG):
        pass


def test_a_client_without_a_loop_leaves_no_thread(backend: Backend) -> None:
    before = set(threading.enumerate())
    left = [Left(backend)]
    end(left[0].loop)
    with pytest.warns(ResourceWarning):
        forget(left)
    wait_until(lambda: set(threading.enumerate()) <= before, "its threads have ended")


def test_others_do_not_hear_of_a_loop_that_has_ended(connect: Connect) -> None:
    """In memory clients poke each other: a waiter on a closed loop breaks no other client's release."""
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


@pytest.mark.parametrize("how", ["twice", "in a scope"])
async def test_a_cancelled_close_goes_on(redis_server: RedisBackend, how: str) -> None:
    async def use() -> None:
        async with (
            fencepost.asyncio.connect(redis_server.url) as client,
            client.lock(redis_server.name()),
        ):
            pass

    def listeners() -> int:
        return int(redis_server.client.pubsub_numsub(channel)[0][1])

    channel = f"{{{redis_server.name()}}}:released"
    tasks = asyncio.all_tasks()
    async with fencepost.asyncio.connect(redis_server.url) as holder, holder.lock(redis_server.name()):
        # The holder listens, too, from the first waiter on.
        connections = 0
        for n in range(10):
            task = asyncio.create_task(use())
            await wait_until_async(lambda: listeners() == 1, "it listens")
            task.cancel()
            await asyncio.sleep(0)
            for _ in range(1 if how == "twice" else 50):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            await wait_until_async(lambda: len(asyncio.all_tasks()) <= 3, "its tasks have ended")
            if n == 0:
                connections = connected(redis_server)
        await wait_until_async(lambda: connected(redis_server) <= connections, "its connections are closed")
    assert asyncio.all_tasks() == tasks


def connected(backend: RedisBackend) -> int:
    """How many connections the server has."""
    return len(backend.client.client_list())


def test_the_error_shows_both_loops() -> None:
    """Two loops that look the same are told apart."""
    loop = asyncio.new_event_loop()

    async def make() -> fencepost.asyncio.Client:
        return fencepost.asyncio.connect("memory:")

    client = loop.run_until_complete(make())
    with pytest.raises(fencepost.MisuseError, match=re.escape(f"{id(loop):#x}")):
        asyncio.run(client.close())
    loop.run_until_complete(client.close())
    loop.close()
