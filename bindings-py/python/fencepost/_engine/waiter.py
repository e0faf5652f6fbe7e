"""Lets a thread wait for another one."""

from __future__ import annotations

import _thread
import sys


class Waiter:
    """One thread waits, and another one wakes it. This is the cheapest way that Python has. To wake never
    blocks, so finalizers may do it, too.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        # Looked up at each call, because gevent may have patched the threads after this module was imported.
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def wake(self) -> None:
        """Wakes the thread. A second call does nothing."""
        try:
            self._lock.release()
        except RuntimeError:
            pass

    def wait(self, seconds: float | None) -> bool:
        """Waits for a call of ``wake``. Returns False if the time is up, or at once if the interpreter is
        shutting down: it has stopped the threads that would call ``wake``.
        """
        if sys.is_finalizing():
            seconds = 0.0
        return self._lock.acquire(True, -1 if seconds is None else max(0.0, seconds))
