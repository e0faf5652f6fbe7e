"""The worker's side of the protocol (../README.md), for locks of threads and of asyncio."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Protocol

clock = time.monotonic_ns  # CLOCK_MONOTONIC, which all processes of a machine share


class Lock(Protocol):
    """A lock for threads."""

    def acquire(self) -> None:
        """Waits for it."""

    def release(self) -> None:
        """Releases it, and waits for the server's reply."""

    def close(self) -> None:
        """Hangs up."""


class AsyncLock(Protocol):
    """A lock for asyncio."""

    async def acquire(self) -> None:
        """Waits for it."""

    async def release(self) -> None:
        """Releases it, and waits for the server's reply."""

    async def close(self) -> None:
        """Hangs up."""


def say(answer: object) -> None:
    """Prints a reply."""
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


def serve(lock: Lock) -> None:
    """Obeys until `quit`."""
    say("ready")
    for line in sys.stdin:
        verb, *numbers = line.split()
        if verb == "quit":
            break
        if verb == "cycle":
            say(_cycle(lock, int(numbers[0])))
        elif verb == "contend":
            say(_contend(lock, int(numbers[0]), int(numbers[1])))
        else:
            call = {"acquire": lock.acquire, "release": lock.release}[verb]
            called = clock()
            call()
            say([called, clock()])
    lock.close()


def _cycle(lock: Lock, times: int) -> list[int]:
    taken = []
    acquire, release = lock.acquire, lock.release
    for _ in range(times):
        start = clock()
        acquire()
        release()
        taken.append(clock() - start)
    return taken


def _contend(lock: Lock, milliseconds: int, hold: int) -> list[list[int]]:
    turns = []
    end = clock() + milliseconds * 1_000_000
    while (called := clock()) < end:
        lock.acquire()
        granted = clock()
        time.sleep(hold / 1e6)
        turns.append([called, granted, clock()])
        lock.release()
    return turns


async def input_lines() -> AsyncIterator[tuple[str, list[int]]]:
    """Prints "ready", then yields commands and their numbers until `quit`. Does not block the loop."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    say("ready")
    while line := await lines.readline():
        verb, *numbers = line.decode().split()
        if verb == "quit":
            return
        yield verb, [int(number) for number in numbers]


async def serve_async(lock: AsyncLock) -> None:
    """Obeys until `quit`."""
    async for verb, numbers in input_lines():
        if verb == "cycle":
            say(await _cycle_async(lock, numbers[0]))
        elif verb == "contend":
            say(await _contend_async(lock, numbers[0], numbers[1]))
        else:
            call = {"acquire": lock.acquire, "release": lock.release}[verb]
            called = clock()
            await call()
            say([called, clock()])
    await lock.close()


async def _cycle_async(lock: AsyncLock, times: int) -> list[int]:
    taken = []
    acquire, release = lock.acquire, lock.release
    for _ in range(times):
        start = clock()
        await acquire()
        await release()
        taken.append(clock() - start)
    return taken


async def _contend_async(lock: AsyncLock, milliseconds: int, hold: int) -> list[list[int]]:
    turns = []
    end = clock() + milliseconds * 1_000_000
    while (called := clock()) < end:
        await lock.acquire()
        granted = clock()
        await asyncio.sleep(hold / 1e6)
        turns.append([called, granted, clock()])
        await lock.release()
    return turns
