"""A client that keeps an exception does not keep its frames."""

from __future__ import annotations

import asyncio
import gc
import weakref

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect, Connect
from support import BRIEF, LONG, Backend, options

ABSENT = ["redis://127.0.0.1:1", "zk://127.0.0.1:1"]


class Local:
    """A local variable of a caller."""


@pytest.mark.parametrize("url", ABSENT)
def test_a_failure_keeps_no_frames(connect: Connect, url: str) -> None:
    client = connect(url)
    kept: list[weakref.ref[Local]] = []

    def handler(name: str, within: float) -> None:
        local = Local()
        kept.append(weakref.ref(local))
        mine = KeyError(name)
        try:
            raise mine
        except KeyError:
            with pytest.raises(fencepost.Refused) as refused:
                client.lock(name).acquire(timeout=within)
        assert refused.value.__cause__ is not None
        assert mine.__traceback__ is not None

    for n in range(5):
        # In the first call, the client must try to connect.
        handler(f"x{n}", 0.3 if n else BRIEF)
    gc.collect()
    assert [each for each in kept if each() is not None] == []


@pytest.mark.parametrize("url", ABSENT)
async def test_a_failure_keeps_no_frames_of_tasks(aconnect: AsyncConnect, url: str) -> None:
    client = aconnect(url)
    kept: list[weakref.ref[Local]] = []

    async def handler(name: str, within: float) -> None:
        local = Local()
        kept.append(weakref.ref(local))
        mine = KeyError(name)
        try:
            raise mine
        except KeyError:
            with pytest.raises(fencepost.Refused) as refused:
                await client.lock(name).acquire(timeout=within)
        assert refused.value.__cause__ is not None
        assert mine.__traceback__ is not None

    for n in range(5):
        # In the first call, the client must try to connect.
        await asyncio.create_task(handler(f"x{n}", 0.3 if n else BRIEF))
    gc.collect()
    assert [each for each in kept if each() is not None] == []


@pytest.mark.parametrize("url", ABSENT)
def test_a_grant_in_such_a_frame_is_released(backend: Backend, connect: Connect, url: str) -> None:
    ours, theirs, absent = (connect(each) for each in (backend.url, backend.url, url))

    def handler() -> None:
        grant = ours.lock(backend.name(), **options(backend, 120)).acquire(timeout=LONG)
        assert grant is not None
        with pytest.raises(fencepost.Refused):
            absent.lock("x").acquire(timeout=0.3)

    handler()
    gc.collect()
    with theirs.lock(backend.name()).hold(timeout=LONG):
        pass


@pytest.mark.parametrize("url", ABSENT)
async def test_a_grant_in_such_a_task_is_released(backend: Backend, aconnect: AsyncConnect, url: str) -> None:
    ours, theirs, absent = (aconnect(each) for each in (backend.url, backend.url, url))

    async def handler() -> None:
        grant = await ours.lock(backend.name(), **options(backend, 120)).acquire(timeout=LONG)
        assert grant is not None
        with pytest.raises(fencepost.Refused):
            await absent.lock("x").acquire(timeout=0.3)

    await asyncio.create_task(handler())
    gc.collect()
    async with theirs.lock(backend.name()).hold(timeout=LONG):
        pass
