"""The timer of a client for threads: a daemon thread that starts with the first planned tick."""

from __future__ import annotations

import _thread
import threading
import time

from ..hub._clock import now
from .engine import Engine
from .reentrancy import serve
from .threads import NoThread, join, start, try_start, without_thread
from .waiter import Waiter

NEVER = 2**63
# While the computer sleeps, waits are suspended but the clock is not. So no wait is longer than this.
LONGEST = 1.0
JOIN_WITHIN = 1.0
LATE = 10_000
"""A timer is late if it runs more than this many microseconds after its time. Replies may have arrived since
then.
"""
TURN = 20_000
"""A late timer first waits for this many microseconds, while the client reads those replies."""


def pause(due: int) -> float:
    """The seconds to wait until that time, or until the next look at the clock."""
    return min(max(0, due - now()) / 1e6, LONGEST)


class ThreadTimer:
    """Calls an engine's tick when it is time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._due = NEVER
        self._waiter = Waiter()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def schedule(self, until: int | None) -> None:
        """See the engine's Timer. It ignores a later time: a tick that comes too early does no harm."""
        if until is None or until >= self._due or self._stopped:
            return
        self._due = until
        if self._thread is None:
            self._start()
        elif self._thread is not threading.current_thread():
            self.wake()

    def ensure(self) -> None:
        """See the engine's Timer."""
        if self._thread is None and not self._stopped:
            try:
                self._thread = start("timer", self._run)
            except NoThread as error:
                raise without_thread(error) from error

    def wake(self) -> None:
        """See the engine's Timer."""
        if self._thread is None and not self._stopped:
            try:
                # A finalizer may take no lock, and `threading` takes one to start a thread.
                _thread.start_new_thread(self._begin, ())
            except RuntimeError:  # The interpreter is shutting down.
                pass
            return
        self._waiter.wake()

    def stop(self) -> None:
        """See the engine's Timer."""
        self._stopped = True
        self.wake()
        join(self._thread, JOIN_WITHIN)

    def _begin(self) -> None:
        with self._engine.order:
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        self._thread = try_start("timer", self._run)
        if self._thread is None:
            # The next drain plans this time again, and so tries again.
            self._due = NEVER

    def _run(self) -> None:
        serve()
        while not self._stopped:
            due, present = self._due, now()
            if due <= present or self._engine.has_orphans:
                if present - due > LATE:
                    # First the client reads the replies that have arrived. The tick handles only what was due
                    # before them.
                    time.sleep(TURN / 1e6)
                # The tick plans the next time.
                self._due = NEVER
                self._engine.tick(present)
            else:
                self._waiter.wait(None if due == NEVER else pause(due))
        # If a start was interrupted, there may be a second thread: it has to end, too.
        self.wake()
