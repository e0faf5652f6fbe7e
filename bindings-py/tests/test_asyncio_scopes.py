"""Blocks of the client for asyncio: each ends the grant that it has opened, in any order and task."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import pickle
import re
import weakref
from collections.abc import AsyncGenerator

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from conftest import AsyncConnect
from support import LONG, Backend


@pytest_asyncio.fixture
async def client(aconnect: AsyncConnect) -> fencepost.asyncio.Client:
    return aconnect("memory:")


@pytest_asyncio.fixture
async def locked(aconnect: AsyncConnect, backend: Backend) -> AsyncGenerator[fencepost.asyncio.Grant, None]:
    """A fixture: pytest enters and leaves it in separate tasks."""
    async with aconnect(backend.url).lock(backend.name()) as grant:
        yield grant
    assert not grant.is_valid
    async with aconnect(backend.url).lock(backend.name()).hold(timeout=LONG):
        pass


def states(*grants: fencepost.asyncio.Grant) -> list[bool]:
    """Which of the grants are held."""
    return [grant.is_valid for grant in grants]


async def test_a_fixture_holds_a_lock(locked: fencepost.asyncio.Grant) -> None:
    assert locked.is_valid


async def test_stacks_end_in_any_order_and_task(client: fencepost.asyncio.Client) -> None:
    semaphore = client.semaphore("presses", 3)
    stacks = [contextlib.AsyncExitStack() for _ in range(3)]
    grants = [await asyncio.create_task(stack.enter_async_context(semaphore)) for stack in stacks]
    await stacks[0].aclose()
    assert states(*grants) == [False, True, True]
    await asyncio.create_task(stacks[2].aclose())
    assert states(*grants) == [False, True, False]
    await stacks[1].aclose()
    assert states(*grants) == [False, False, False]


async def test_generators_end_in_any_order(client: fencepost.asyncio.Client) -> None:
    reader = client.read_write_lock("prices").reader

    async def stream() -> AsyncGenerator[fencepost.asyncio.Grant, None]:
        async with reader as grant:
            yield grant

    streams = [stream() for _ in range(2)]
    grants = [await anext(each) for each in streams]
    await streams[0].aclose()
    assert states(*grants) == [False, True]
    await streams[1].aclose()
    assert states(*grants) == [False, False]


async def test_blocks_of_one_task_nest(client: fencepost.asyncio.Client) -> None:
    semaphore = client.semaphore("presses", 2)
    async with semaphore as outer:
        async with semaphore as inner:
            assert states(outer, inner) == [True, True]
        assert states(outer, inner) == [True, False]
    assert not outer.is_valid


async def test_calls_by_hand(client: fencepost.asyncio.Client) -> None:
    semaphore = client.semaphore("presses", 2)
    ours, theirs = await asyncio.gather(semaphore.__aenter__(), semaphore.__aenter__())
    assert states(ours, theirs) == [True, True]
    with pytest.raises(fencepost.MisuseError, match=re.escape("hold()")) as error:
        await semaphore.__aexit__(None, None, None)
    assert (error.value.code, error.value.name) == (541, "ambiguous-scope")
    assert states(ours, theirs) == [True, True]
    await semaphore.__aexit__(None, None, None)
    assert states(ours, theirs) == [False, False]
    grant = await semaphore.__aenter__()
    await asyncio.create_task(semaphore.__aexit__(None, None, None))
    assert not grant.is_valid


async def test_a_scope_is_for_one_block_at_a_time(client: fencepost.asyncio.Client) -> None:
    guard = client.semaphore("presses", 2).hold(timeout=LONG)
    inside = most = 0

    async def work() -> None:
        nonlocal inside, most
        async with guard as grant:
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            assert grant.is_valid
            inside -= 1

    ended = await asyncio.gather(*(work() for _ in range(3)), return_exceptions=True)
    assert [getattr(each, "name", None) for each in ended] == [None, "busy", "busy"]
    assert most == 1
    await work()


async def test_a_loss_reaches_the_task_that_entered(client: fencepost.asyncio.Client) -> None:
    """Another task leaves the block. The lock must not cancel that task."""
    stack = contextlib.AsyncExitStack()
    grant = await asyncio.create_task(stack.enter_async_context(client.lock("a", max_hold=0.05)))
    await asyncio.wait_for(grant.lost.wait(), LONG)
    with pytest.raises(fencepost.LockLost):
        await stack.aclose()


async def test_a_grant_may_be_entered_within_its_own_block(client: fencepost.asyncio.Client) -> None:
    with pytest.raises(fencepost.LockLost):
        async with client.lock("a", max_hold=0.05) as grant, grant:
            await asyncio.sleep(LONG)
    task = asyncio.current_task()
    assert task is not None
    assert getattr(task, "cancelling", lambda: 0)() == 0


async def test_what_is_once_is_not_copied(client: fencepost.asyncio.Client) -> None:
    lock = client.lock("a")
    grant = await lock.acquire()
    assert grant is not None
    for original in (client, lock, lock.hold(), grant):
        for how in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                how(original)
        assert weakref.ref(original)() is original
    assert grant.is_valid


def test_without_a_loop_the_error_names_us() -> None:
    with pytest.raises(RuntimeError, match=r"fencepost\.asyncio .* fencepost\.connect\(\)"):
        fencepost.asyncio.connect("memory:")
    for module, client in (("fencepost", fencepost.Client), ("fencepost.asyncio", fencepost.asyncio.Client)):
        with pytest.raises(fencepost.ConfigError, match=rf"{re.escape(module)}\.connect\(\)"):
            client("redis://localhost")
