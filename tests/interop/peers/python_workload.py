"""The times at which Python's grants are valid, in µs of this machine's clock; and the workload."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import fencepost
from mixed_counter import CounterClient
from steered import Answer, say

#: How often a holder checks its grant, in seconds.
OFTEN = 0.02


def now() -> int:
    """Microseconds."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


class Valid(Protocol):
    """The method of a grant that returns how long it is valid."""

    def remaining(self) -> float | None:
        """How many seconds it is valid for."""


class Grant(Protocol):
    """The methods of a grant that the workload uses."""

    @property
    def fence(self) -> int | None:
        """The fence."""

    @property
    def is_valid(self) -> bool:
        """Whether it is valid now."""

    async def release(self) -> None:
        """Releases it."""


class ValidityReporter:
    """Reports the times at which a grant becomes valid and invalid."""

    def __init__(self, grant: Valid, path: str) -> None:
        self._grant = grant
        self._path = path
        self._valid = False
        self._until = 0

    async def report_until(self, end: asyncio.Event) -> None:
        """Reports changes until the end."""
        while not end.is_set():
            self.look()
            await asyncio.sleep(OFTEN)
        self.look()

    def look(self) -> None:
        """Reports a change."""
        remaining = self._grant.remaining()
        at, valid = now(), remaining != 0
        if valid != self._valid:
            # This check is a moment late, but the grant ended no later than it had reported.
            since = at if valid else min(at, self._until)
            say({"event": "valid", "path": self._path, "valid": valid, "at": since})
        self._valid = valid
        if valid:
            assert remaining is not None
            self._until = at + int(remaining * 1e6)


async def workload(
    acquire: Callable[[], Awaitable[Grant | None]],
    shared: bool,
    resource: CounterClient,
    hold_ms: int,
    enough: threading.Event,
) -> Answer:
    """Acquires, uses the resource and releases, until `enough` is set."""
    done = stale = lost = unconfirmed = 0
    while not enough.is_set():
        try:
            grant = await acquire()
        except fencepost.LockLost:
            # The lock was granted, but lost before the acquire returned.
            lost += 1
            continue
        since = now()
        assert grant is not None
        assert grant.fence is not None
        use = resource.look if shared else resource.increment
        # A blocking call, because the resource replies at once and the loop has no other tasks.
        if use(grant.fence):
            done += 1
        else:
            stale += 1
        until = await _hold(grant, since + 1000 * hold_ms)
        if until is not None:
            resource.held(grant.fence, since, until)
        try:
            await grant.release()
        except fencepost.LockLost:
            lost += 1
        except fencepost.ReleaseUnconfirmed:
            unconfirmed += 1
    return {"done": done, "stale": stale, "lost": lost, "unconfirmed": unconfirmed}


async def _hold(grant: Grant, end: int) -> int | None:
    """Holds until `end` or until the grant ends. Returns the last time at which it was valid."""
    seen = None
    while True:
        at = now()
        if not grant.is_valid:
            return seen
        seen = at
        if at >= end:
            return seen
        await asyncio.sleep(OFTEN)
