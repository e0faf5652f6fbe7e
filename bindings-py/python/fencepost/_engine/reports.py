"""The reports of an engine about contenders and connections, to the loggers and to an observer.

The reports are made inside the critical section. A reporter passes them on later, because the handlers of a
logger are code of the program.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from ..hub._clock import now
from . import observers
from .contender import Contender, State
from .log import driver_log, log
from .reporter import Reporter
from .wording import shown


class Reports:
    """The reports of one engine."""

    def __init__(self, family: str, where: Callable[[], str], reporter: Reporter) -> None:
        self._server = "memory" if where().startswith("memory:") else family
        self._where = where
        self._reporter = reporter
        self._driver_log = driver_log(self._server)

    def begins(self, contender: Contender, time: int) -> None:
        """An acquire begins."""
        contender.since = time
        by = observers.observer
        if by is not None and self._reporter.offer(partial(by.waits, self._server)):
            contender.observer = by
        self._log(logging.DEBUG, "%s: waits", contender.label)

    def changed(self, contender: Contender) -> None:
        """Reports the state of a contender if it has changed."""
        before, state = contender.reported, contender.state
        if before is state or state is State.RELEASING:
            return
        contender.reported = state
        time = now()
        duration, contender.since = (time - contender.since) / 1e6, time
        if before not in (State.WAITING, State.HELD):
            return
        if before is State.HELD and state is State.LOST:
            self._lost(contender, duration)
        elif contender.observer is not None or log.isEnabledFor(logging.DEBUG):
            report = self._decided if before is State.WAITING else self._ended
            report(contender, duration)

    def _decided(self, contender: Contender, duration: float) -> None:
        outcome, by = contender.state.value, contender.observer
        if contender.state is State.HELD:
            outcome = "acquired"
            self._log(
                logging.DEBUG,
                "%s: acquired after %.3f s, fence %s",
                contender.label,
                duration,
                contender.fence,
            )
        elif contender.state is State.REFUSED:
            error = contender.error()
            outcome = error.name
            self._log(logging.DEBUG, "%s: refused after %.3f s: %s", contender.label, duration, outcome)
        else:
            self._log(logging.DEBUG, "%s: %s after %.3f s", contender.label, outcome, duration)
        if by is not None:
            self._reporter.put(partial(by.decided, self._server, outcome, duration))

    def _ended(self, contender: Contender, duration: float) -> None:
        outcome, by = contender.state.value, contender.observer
        self._log(logging.DEBUG, "%s: %s after %.3f s", contender.label, outcome, duration)
        if by is not None:
            self._reporter.put(partial(by.ended, self._server, outcome, duration))

    def _lost(self, contender: Contender, duration: float) -> None:
        error, by = contender.error(), contender.observer
        why = str(error).removeprefix(f"{shown(contender.name)}: ")
        # Without a cause, the program has closed the connection itself.
        is_closed = error.code == 406 and error.__cause__ is None
        level, text = logging.INFO if is_closed else logging.WARNING, "%s: lost after %.3f s: %s (%d): %s"
        self._log(level, text, contender.label, duration, error.name, error.code, why)
        if by is not None:
            self._reporter.put(partial(by.lost, self._server, error.name))
            self._reporter.put(partial(by.ended, self._server, "lost", duration))

    def _log(self, level: int, text: str, *arguments: object) -> None:
        if log.isEnabledFor(level):
            self._reporter.offer(partial(log.log, level, text, *arguments))

    def odd_reply(self, error: Exception) -> None:
        """A reply had a form that its command cannot have."""
        self._log(logging.WARNING, "%s", str(error))

    def wants(self, level: int) -> bool:
        """Whether the client uses a connection, and the driver's logger is enabled for this level."""
        return self._server != "memory" and self._driver_log.isEnabledFor(level)

    def connection(self, level: int, text: str, error: object = None) -> None:
        """Reports an event of a connection."""
        if isinstance(error, BaseException):
            # Not the exception itself, which would keep frames alive.
            error = f"{type(error).__name__}: {error}"
        why = "" if error is None else f": {error}"
        self._reporter.offer(partial(self._driver_log.log, level, "%s: %s%s", self._where(), text, why))
