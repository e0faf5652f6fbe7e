"""Passes reports on to the program's handlers of logging, and to its observer.

A handler is code of the program, and may be slow. So reports wait in a queue, and no thread passes one on
inside of a critical section. The queue has a bound, because a handler may be slower than the client.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf

from .contender import Wake
from .log import log
from .threads import join, try_start
from .waiter import Waiter

MOST = 10_000
"""The largest number of reports in the queue. A client drops further ones."""


class Reporter:
    """The queue of reports. Reports are added inside the critical section, and delivered outside of it."""

    def __init__(self, failed: Callable[[Exception], None], wake: Wake) -> None:
        self._failed = failed
        """Called when a handler has raised."""
        self._wake = wake
        """Called when there is something to deliver."""
        self._waiting: deque[Wake] = deque()
        self._dropped = 0
        """The number of dropped reports. It only grows, because another thread reads it."""
        self._logged = 0
        """The part of them that is in the log."""

    def offer(self, report: Wake) -> bool:
        """Adds a report. If the queue is full, drops it and returns False."""
        if len(self._waiting) >= MOST:
            self._dropped += 1
            return False
        self.put(report)
        return True

    def put(self, report: Wake) -> None:
        """Adds a report even if the queue is full. An observer that has counted the beginning of a wait must
        also count its end.
        """
        self._waiting.append(report)
        self._wake()

    def deliver(self, until: float = inf) -> None:
        """Passes on the reports that are in the queue now. Begins none after the time ``until``."""
        for _ in range(len(self._waiting)):
            if time.monotonic() >= until:
                return
            try:
                report = self._waiting.popleft()
            except IndexError:  # Another thread has taken it.
                return
            self._pass_on(report)
        self._log_drops()

    def close(self, within: float) -> None:
        """Delivers the last reports, for at most ``within`` seconds."""
        self.deliver(time.monotonic() + within)

    def _log_drops(self) -> None:
        count = self._dropped - self._logged
        if count:
            self._logged += count
            text = "%d records and measurements were dropped: a handler of logging or metrics is too slow"
            self._pass_on(partial(log.warning, text, count))

    def _pass_on(self, report: Wake) -> None:
        try:
            report()
        except Exception as error:
            self._failed(error)


class ThreadReporter(Reporter):
    """Delivers on a daemon thread, which starts with the first report. So a slow handler delays no renewal,
    and no call of the program.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        super().__init__(failed, self._wake_thread)
        self._waiter = Waiter()
        self._thread: threading.Thread | None = None
        self._closed = False

    def close(self, within: float) -> None:
        """See Reporter. After that time, the thread continues alone."""
        self._closed = True
        if self._thread is None:  # There was no report, or Python could not start the thread.
            super().close(within)
        else:
            self._waiter.wake()
            join(self._thread, within)

    def _wake_thread(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = try_start("reports", self._run)
        else:
            self._waiter.wake()

    def _run(self) -> None:
        while True:
            self.deliver()
            if self._waiting:
                continue
            if self._closed:
                break
            self._waiter.wait(None)
        # If a start was interrupted, there may be a second thread: it has to end, too.
        self._waiter.wake()
