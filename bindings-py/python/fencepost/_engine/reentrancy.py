"""Where a call may not wait.

Python runs finalizers and signal handlers at any point of a thread: also inside an engine's critical section,
and on a thread that reads a client's answers. A call that waited there would wait for ever, because its own
thread is the one that would have to read the answer.
"""

from __future__ import annotations

import threading
from functools import partial
from weakref import ref


class _Thread(threading.local):
    serves = False


_thread = _Thread()
_sections: dict[int, ref[threading.RLock]] = {}
"""The locks of the engines' critical sections."""


def serve() -> None:
    """This thread reads answers or runs a timer."""
    _thread.serves = True


def watch(section: threading.RLock) -> None:
    """Remembers the lock of an engine's critical section, until the lock is gone."""
    key = id(section)
    # The callback is not a Python function: an interrupt in one would be dropped, and the lock stay here.
    _sections[key] = ref(section, partial(_sections.pop, key))


def may_wait() -> bool:
    """Whether this thread may wait: other threads read the answers meanwhile."""
    if _thread.serves:
        return False
    for each in list(_sections.values()):
        section = each()
        if section is not None and section._is_owned():  # type: ignore[attr-defined]
            return False
    return True
