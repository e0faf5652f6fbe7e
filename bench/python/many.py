"""Many tasks on one client, each with a lock of its own: tasks of asyncio, or threads."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from loops import AsyncLock, Lock, clock, input_lines, say

#: Small, because thousands of threads share the memory.
STACK = 256 * 1024


class ManyLock(Lock, Protocol):
    """A lock for threads, and further ones on the same client."""

    def another(self, name: str) -> Lock:
        """A lock of that name."""


class ManyAsyncLock(AsyncLock, Protocol):
    """A lock for asyncio, and further ones on the same client."""

    def another(self, name: str) -> AsyncLock:
        """A lock of that name."""


def serve_many(first: ManyLock, name: str) -> None:
    """Runs commands until `quit`, with threads."""
    threading.stack_size(STACK)
    locks: list[Lock] = []
    say("ready")
    for line in sys.stdin:
        verb, *numbers = line.split()
        number = int(numbers[0]) if numbers else 0
        if verb == "quit":
            break
        if verb == "open":
            locks += [first.another(f"{name}-{index}") for index in range(len(locks), len(locks) + number)]
            say([])
        elif verb == "run":
            say(_run(locks, number))
        elif verb == "hold":
            _together(locks, Lock.acquire)
            say([])
        elif verb == "wait":
            for lock in locks:
                threading.Thread(target=lock.acquire, daemon=True).start()
            time.sleep(number / 1000)
            say([])
        elif verb == "memory":
            say([_memory()])
        else:
            raise ValueError(f"unknown command: {verb}")
    sys.stdout.flush()
    os._exit(0)  # threads that wait for a lock would keep the process alive


def _run(locks: list[Lock], milliseconds: int) -> list[int]:
    cycles: list[int] = []  # append is atomic
    barrier = threading.Barrier(len(locks) + 1)
    end = 0

    def work(lock: Lock) -> None:
        barrier.wait()
        done = 0
        while done == 0 or clock() < end:
            lock.acquire()
            lock.release()
            done += 1
        cycles.append(done)

    threads = [threading.Thread(target=_or_die, args=(work, lock)) for lock in locks]
    for thread in threads:
        thread.start()
    start, before = clock(), time.process_time_ns()
    end = start + milliseconds * 1_000_000
    barrier.wait()
    for thread in threads:
        thread.join()
    return [sum(cycles), clock() - start, time.process_time_ns() - before]


def _together(locks: list[Lock], call: Callable[[Lock], None]) -> None:
    threads = [threading.Thread(target=_or_die, args=(call, lock)) for lock in locks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _or_die(work: Callable[[Lock], None], lock: Lock) -> None:
    try:
        work(lock)
    except Exception as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)


async def serve_many_async(first: ManyAsyncLock, name: str) -> None:
    """Runs commands until `quit`, with tasks of asyncio."""
    locks: list[AsyncLock] = []
    waiting: list[asyncio.Task[None]] = []
    async for verb, numbers in input_lines():
        number = numbers[0] if numbers else 0
        if verb == "open":
            locks += [first.another(f"{name}-{index}") for index in range(len(locks), len(locks) + number)]
            say([])
        elif verb == "run":
            say(await _run_async(locks, number))
        elif verb == "hold":
            await asyncio.gather(*(lock.acquire() for lock in locks))
            say([])
        elif verb == "wait":
            waiting = [asyncio.create_task(lock.acquire()) for lock in locks]
            await asyncio.sleep(number / 1000)
            say([])
        elif verb == "memory":
            say([_memory()])
        else:
            raise ValueError(f"unknown command: {verb}")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await first.close()


async def _run_async(locks: list[AsyncLock], milliseconds: int) -> list[int]:
    start, before = clock(), time.process_time_ns()
    end = start + milliseconds * 1_000_000

    async def work(lock: AsyncLock) -> int:
        done = 0
        while done == 0 or clock() < end:
            await lock.acquire()
            await lock.release()
            done += 1
        return done

    cycles = await asyncio.gather(*(work(lock) for lock in locks))
    return [sum(cycles), clock() - start, time.process_time_ns() - before]


def _memory() -> int:
    """The memory of the process after a garbage collection, in bytes."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
