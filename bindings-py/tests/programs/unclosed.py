"""Two runs of asyncio that close nothing. Arguments: URL, name, and what each run leaves open."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import fencepost.asyncio

url, name, what = sys.argv[1:]
left: list[object] = []


async def body(lock: fencepost.asyncio.Lock) -> None:
    """A task in a block."""
    async with lock:
        await asyncio.sleep(100)


async def held(lock: fencepost.asyncio.Lock) -> AsyncIterator[int]:
    """A generator in a block."""
    async with lock:
        yield 1
        yield 2


async def main() -> None:
    """Leaves grants, waiters or blocks open."""
    lock = fencepost.asyncio.connect(url).lock(name)
    if what in ("grant", "waiters"):
        left.append(await lock.acquire())
    if what in ("body", "waiters"):
        left.extend(asyncio.create_task(body(lock)) for _ in range(5))
        await asyncio.sleep(0.3)
    if what == "generator":
        left.append(generator := held(lock))
        async for _ in generator:
            break


for _ in range(2 if what in ("body", "generator") else 1):
    asyncio.run(main())
print("end")
