"""Time for the clients that threads use: one daemon thread a client, started when there is first something to
wait for.
"""

from __future__ import annotations

import threading
from _thread import allocate_lock, start_new_thread
from time import sleep
from typing import TYPE_CHECKING

from ._clock import now
from ._threads import start
from ._waiting import serve

if TYPE_CHECKING:
    from ._engine import Engine

NEVER = 2**63
# Waiting stops while the computer sleeps, and the clock does not: so a wait is looked at again this often.
LONGEST = 1.0
JOIN_WITHIN = 1.0
LATE = 10_000
"""From how many microseconds on a timer is late, so that answers may have come meanwhile."""
TURN = 20_000
"""For how many microseconds they are taken in then: one turn, before the timer decides anything."""


def pause(due: int) -> float:
    """For how many seconds to wait for that time."""
    return min(max(0, due - now()) / 1e6, LONGEST)


class ThreadTimer:
    """Calls an engine's tick when it is time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._due = NEVER
        # A binary semaphore, held while nothing is to be noticed. Releasing never blocks, so finalizers may.
        self._wake = allocate_lock()
        self._wake.acquire()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def plan(self, until: int | None) -> None:
        """See the engine's Timer. A wait that ends too early does no harm, so a later time is not told."""
        if until is None or until >= self._due or self._stopped:
            return
        self._due = until
        if self._thread is None:
            self._start()
        elif self._thread is not threading.current_thread():
            self.nudge()

    def nudge(self) -> None:
        """See the engine's Timer."""
        if self._thread is None and not self._stopped:
            try:
                # To start a thread of `threading` takes a lock, which a finalizer may not.
                start_new_thread(self._begin, ())
            except RuntimeError:  # The interpreter is on its way out.
                pass
            return
        try:
            self._wake.release()
        except RuntimeError:  # It will wake up anyway.
            pass

    def stop(self) -> None:
        """See the engine's Timer."""
        self._stopped = True
        self.nudge()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(JOIN_WITHIN)

    def _begin(self) -> None:
        with self._engine.order:
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        self._thread = start("timer", self._run)
        if self._thread is None:
            self._stopped = True

    def _run(self) -> None:
        serve()
        while not self._stopped:
            due, time = self._due, now()
            if due <= time or self._engine.has_orphans:
                if time - due > LATE:
                    # What has come by now is taken in first, and what is due later is not decided yet.
                    sleep(TURN / 1e6)
                # Whatever is still to come is planned anew by the tick.
                self._due = NEVER
                self._engine.tick(time)
            else:
                self._wake.acquire(True, -1 if due == NEVER else pause(due))
