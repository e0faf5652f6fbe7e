"""The first connection of a client: how long an acquire waits for it, and why there is none yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ..errors import FencepostError, Refused
from .contender import Contender
from .wording import shown


class Reachability:
    """Whether the client has ever reached its server, and which contenders wait for that. Threads change it
    only inside the engine's critical section, except for ``last_error``.
    """

    def __init__(self, within: int | None, where: Callable[[], str]) -> None:
        self._within = within
        """How long an acquire waits for the first connection, in microseconds. None: only its own timeout
        limits that.
        """
        self._where = where
        self.reached = False
        self.last_error: BaseException | None = None
        """The exception of the last attempt to connect."""
        self.when_closed = ""
        """The remedy if the program's own connection is closed, for the text of an error."""
        self._waiting: deque[tuple[int, Contender]] = deque()

    def connected(self) -> None:
        """The client has a connection. From now on only an acquire's own timeout limits its wait."""
        self.reached = True
        self.last_error = None
        self._waiting.clear()

    def wait(self, contender: Contender, time: int) -> None:
        """A contender begins to wait."""
        if not self.reached and self._within is not None:
            self._waiting.append((time + self._within, contender))

    def limit(self, seconds: float) -> float:
        """The time for which a caller may wait for a connection, if its own limit is ``seconds``."""
        if self.reached or self._within is None:
            return seconds
        return min(seconds, self._within / 1e6)

    def overdue(self, time: int) -> list[Contender]:
        """Removes and returns the contenders whose time is up."""
        found = []
        while self._waiting and self._waiting[0][0] <= time:
            found.append(self._waiting.popleft()[1])
        return found

    def next_due(self, until: int | None) -> int | None:
        """The earlier of ``until`` and the time at which the first contender's time is up."""
        if not self._waiting:
            return until
        due = self._waiting[0][0]
        return due if until is None else min(due, until)

    def closed(self, refused: FencepostError) -> FencepostError:
        """The error of a contender whose connection the program has closed, or has not opened yet."""
        if not self.when_closed:
            return refused
        error = Refused(f"{refused}: {self.when_closed}", refused.code, refused.name)
        error.__cause__ = refused.__cause__
        return error

    def unreachable(self, name: str, text: str, cause: BaseException | None) -> Refused:
        """The error of a contender that got no reply from a server."""
        cause = cause or self.last_error
        why = "" if cause is None else f": {cause}".rstrip(".")
        where = self._where()
        remedy = "" if self.reached else ". Check the address, and check that the server runs there"
        if remedy and where.startswith("rediss:"):
            # A server without TLS treats the handshake as the beginning of a command, and waits silently for
            # the rest.
            remedy = f"{remedy} and speaks TLS"
        error = Refused(f"{shown(name)}: {text}: {where}{why}{remedy}", 304, "unreachable")
        error.__cause__ = cause
        return error
