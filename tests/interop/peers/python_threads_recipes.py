"""fencepost's recipes in Python with threads by the names of the protocol."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import fencepost
from mixed_counter import CounterClient
from python_recipes import Recipes, given
from python_workload import OFTEN, ValidityReporter, workload
from steered import Answer, Hold, Lost, NotHere, say


class ThreadRecipes(Recipes):
    """The recipes on a client whose calls block and cannot be cancelled."""

    def _open(self, url: str, login: tuple[str, int, str] | None) -> Any:
        if login is None:
            return fencepost.connect(url).__enter__()
        self._given = given(*login)
        return fencepost.Client(self._given)

    def acquire(self, kind: str, path: str, timeout_ms: int) -> Hold | None:
        """See Recipes."""
        timeout = timeout_ms / 1000 if timeout_ms > 0 else None
        try:
            grant = self._lock(kind, path).acquire(timeout, blocking=timeout_ms != 0)
        except fencepost.LockLost as lost:
            raise Lost(str(lost)) from lost
        if grant is None:
            return None
        reporting = Reporting(grant, path)
        try:
            node = self._node(path, grant.fence)
        except NotHere:
            # As in Recipes.
            reporting.end(lambda: extend_and_release(grant))
            raise
        return Hold(
            kind,
            path,
            node,
            grant.fence,
            release=lambda: reporting.end(grant.release),
            leave=lambda: reporting.end(lambda: grant.__exit__(None, None, None)),
            downgrade=grant.downgrade,
        )

    def cancel(self) -> None:
        """Does nothing: a waiting thread continues to wait."""

    def workload(self, kind: str, path: str, resource: CounterClient, hold_ms: int) -> Answer:
        """Runs the workload until `stop`."""
        lock, shared = self._lock(kind, path), kind.startswith(("read", "semaphore"))

        async def acquire() -> Awaited:
            return Awaited(lock.acquire())

        # Blocking calls are allowed, because this loop has no other tasks.
        return asyncio.run(workload(acquire, shared, resource, hold_ms, self._enough))

    def _run(self, what: Any) -> Any:
        return what


class Awaited:
    """A grant whose release can be awaited, but blocks."""

    def __init__(self, grant: fencepost.Grant) -> None:
        self.fence = grant.fence
        self._grant = grant

    @property
    def is_valid(self) -> bool:
        """See Grant."""
        return self._grant.is_valid

    async def release(self) -> None:
        """See Grant."""
        self._grant.release()


def extend_and_release(grant: fencepost.Grant) -> None:
    """Raises LockLost if the grant has ended."""
    grant.extend()
    grant.release()


class Reporting:
    """The threads that report the events of a grant, until its holder ends it."""

    def __init__(self, grant: fencepost.Grant, path: str) -> None:
        self._grant = grant
        self._path = path
        self._over = False
        if grant.mixed_layouts is not None:
            say({"event": "mixed-layouts", "path": path, "node": grant.mixed_layouts})
        for reports in (self._report, self._report_request):
            threading.Thread(target=reports, daemon=True).start()

    def end(self, ends: Callable[[], object]) -> None:
        """Ends the grant."""
        self._over = True
        try:
            ends()
        except fencepost.LockLost as lost:
            raise Lost(str(lost)) from lost

    def _report(self) -> None:
        reporter = ValidityReporter(self._grant, self._path)
        while not self._over:
            lost = self._grant.lost.is_set()
            reporter.look()
            if lost:
                say({"event": "state", "state": "lost"})
                say({"event": "lost", "path": self._path})
                return
            time.sleep(OFTEN)

    def _report_request(self) -> None:
        if self._grant.wait_revoke_requested() and not self._over:
            say({"event": "revoke", "path": self._path})
