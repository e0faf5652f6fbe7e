"""Work under claims: effects in a file, and many keys that a peer claims as fast as it can."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

import fencepost
import fencepost.asyncio

Answer = tuple[str, dict[str, Any]]


def append(path: str, *words: object) -> None:
    """Appends a line in one write, so that lines of other processes do not mix with it."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, (" ".join(map(str, words)) + "\n").encode())
    finally:
        os.close(file)


def effect(path: str, key: str, claim: Any) -> None:
    """The effect of an operation."""
    append(path, "effect", key, claim.fence, claim.takeovers)


class Work:
    """The keys of one command, and their results."""

    def __init__(self, words: list[str]) -> None:
        path, *numbers = words
        first, step, end, self.tasks, millis = map(int, numbers)
        self.takes = millis / 1000
        self._path = unquote(path)
        self.keys: Iterator[str] = (f"key-{number}" for number in range(first, end, step))
        self._answers: Counter[str] = Counter(ran=0, replayed=0)

    def act(self, key: str, claim: Any) -> bytes:
        """Performs the effect of a claim. Returns a result that no other execution has."""
        effect(self._path, key, claim)
        return f"{os.getpid()}-{claim.fence}".encode()

    def note(self, key: str, claim: Any, *, ran: bool) -> None:
        """Appends the result that this caller got to the file."""
        append(self._path, "answer", key, claim.result.decode())
        self._answers["ran" if ran else "replayed"] += 1

    @property
    def answer(self) -> Answer:
        """The answer to the command."""
        return "ok", dict(self._answers)


def work(scope: fencepost.Idempotency, words: list[str]) -> Answer:
    """Claims all keys, several at once, with threads."""
    whole = Work(words)

    def once(key: str) -> None:
        claim = scope.claim(key)
        ran = not claim.replayed
        if ran:
            result = whole.act(key, claim)
            time.sleep(whole.takes)
            claim.complete(result)
        whole.note(key, claim, ran=ran)

    def until_done(key: str) -> None:
        while True:
            try:
                return once(key)
            except fencepost.LockLost:
                pass  # Another attempt has taken over.

    with ThreadPoolExecutor(whole.tasks) as threads:
        list(threads.map(until_done, whole.keys))
    return whole.answer


async def work_in_tasks(scope: fencepost.asyncio.Idempotency, words: list[str]) -> Answer:
    """Claims all keys, several at once, with tasks."""
    whole = Work(words)

    async def once(key: str) -> None:
        claim = await scope.claim(key)
        ran = not claim.replayed
        if ran:
            result = whole.act(key, claim)
            await asyncio.sleep(whole.takes)
            await claim.complete(result)
        whole.note(key, claim, ran=ran)

    async def some() -> None:
        for key in whole.keys:
            while True:
                try:
                    await once(key)
                    break
                except fencepost.LockLost:
                    pass  # Another attempt has taken over.

    await asyncio.gather(*(some() for _ in range(whole.tasks)))
    return whole.answer
