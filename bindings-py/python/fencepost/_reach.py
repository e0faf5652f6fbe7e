"""Until a client has first reached its server: how long an acquire waits for that, and why it has not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ._contender import Contender
from .errors import Refused


class Reach:
    """Whether the server was ever reached, and which contenders wait for that. Changed inside the engine's
    critical section, except for ``trouble``.
    """

    def __init__(self, within: int | None, where: Callable[[], str]) -> None:
        self._within = within
        """For how many microseconds an acquire waits for the first connection; None: as long as its patience
        lasts.
        """
        self._where = where
        self.reached = False
        self.trouble: BaseException | None = None
        """Why the last attempt to connect has failed."""
        self._waiting: deque[tuple[int, Contender]] = deque()

    def arrived(self) -> None:
        """A connection is there. From now on an acquire waits as long as its patience lasts."""
        self.reached = True
        self.trouble = None
        self._waiting.clear()

    def wait(self, contender: Contender, time: int) -> None:
        """A contender begins to wait."""
        if not self.reached and self._within is not None:
            self._waiting.append((time + self._within, contender))

    def limit(self, seconds: float) -> float:
        """For how many of so many seconds a connection may be waited for."""
        if self.reached or self._within is None:
            return seconds
        return min(seconds, self._within / 1e6)

    def overdue(self, time: int) -> list[Contender]:
        """Takes those out that have waited for too long."""
        found = []
        while self._waiting and self._waiting[0][0] <= time:
            found.append(self._waiting.popleft()[1])
        return found

    def sooner(self, until: int | None) -> int | None:
        """The time at which somebody has waited for too long, if that is sooner."""
        if not self._waiting:
            return until
        due = self._waiting[0][0]
        return due if until is None else min(due, until)

    def unreachable(self, name: str, text: str, cause: BaseException | None) -> Refused:
        """The error of a contender that no server has answered."""
        cause = cause or self.trouble
        why = "" if cause is None else f": {cause}"
        remedy = "" if self.reached else ". Check the address, and that the server runs there"
        error = Refused(f"{name}: {text}: {self._where()}{why}{remedy}", 304, "unreachable")
        error.__cause__ = cause
        return error
