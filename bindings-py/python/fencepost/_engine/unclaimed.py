"""Grants that no task has taken, because the loop stands still or was stopped.

A thread of the client library reads the reply and keeps the session alive. So without the loop, such a grant
would block all other contenders. Another thread releases it after half of its lease. When the loop continues,
the acquire queues again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import sleep

from ..hub._clock import now
from .contender import Contender
from .engine import Engine
from .reentrancy import serve
from .threads import try_start
from .timer import LATE, TURN, pause
from .waiter import Waiter

AT_MOST = 10_000_000
"""The longest time before it is released, in microseconds, if the lease is long or there is none."""


class Unclaimed:
    """Unclaimed grants, each with the time when it is released. Threads change them only inside the engine's
    critical section.
    """

    def __init__(self, engine: Engine, give_back: Callable[[Contender], object]) -> None:
        self._engine = engine
        self._give_back = give_back
        self._due: dict[Contender, int] = {}
        self._next = 0
        """When the thread checks the grants again."""
        self._waiter = Waiter()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def granted(self, contender: Contender) -> None:
        """The server has granted an acquire."""
        until, time = contender.valid_until, now()
        due = time + (AT_MOST if until is None else min(max(0, until - time) // 2, AT_MOST))
        self._due[contender] = due
        if self._thread is None and not self._stopped:
            # The thread stays until then, also for later grants.
            self._next = due
            self._thread = try_start("unclaimed", self._run)
        elif due < self._next:
            self._next = due
            self._waiter.wake()

    def taken(self, contender: Contender) -> None:
        """The task that acquires has taken its grant."""
        self._due.pop(contender, None)

    def stop(self) -> None:
        """Ends the thread."""
        self._stopped = True
        self._waiter.wake()

    def _run(self) -> None:
        serve()
        while True:
            late = now() - self._next
            if self._stopped or late >= 0:
                if late > LATE and not self._stopped:
                    # The process was paused. The loop gets a little time to take its grants.
                    sleep(TURN / 1e6)
                if not self._look():
                    return
            else:
                self._waiter.wait(pause(self._next))

    def _look(self) -> bool:
        """Releases the grants whose time is up. Returns whether others are left."""
        engine = self._engine
        with engine.order:
            time = now()
            for contender in [contender for contender, due in self._due.items() if due <= time]:
                del self._due[contender]
                self._give_back(contender)
            goes_on = bool(self._due) and not self._stopped
            if goes_on:
                self._next = min(self._due.values())
            else:
                self._thread = None
        engine.driver.after()
        return goes_on
