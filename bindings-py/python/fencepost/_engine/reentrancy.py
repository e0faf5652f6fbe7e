"""Detects the places where a call may not wait.

Python runs finalizers and signal handlers at any point of a thread: also inside an engine's critical section,
and on a thread that reads a client's replies. A call that waited there would wait for ever, because its own
thread would have to read the reply.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from weakref import ref

_threads: dict[type, threading.local] = {}
"""For each class of thread-local data, which threads read replies or run a timer. There are two classes if
gevent has patched Python's threads after this module was imported.
"""
_sections: dict[int, ref[threading.RLock]] = {}
"""The locks of the engines' critical sections."""


def serve() -> None:
    """Marks this thread: it reads replies or runs a timer."""
    threads = _threads.get(threading.local)
    if threads is None:
        threads = _threads.setdefault(threading.local, threading.local())
    threads.serves = True


def _serves() -> bool:
    threads = _threads.get(threading.local)
    return threads is not None and getattr(threads, "serves", False)


def watch(section: threading.RLock) -> None:
    """Remembers the lock of an engine's critical section, until the lock is deleted."""
    key = id(section)
    # The callback is not a Python function: Python would drop an interrupt in it, and the lock would stay
    # here.
    _sections[key] = ref(section, partial(_sections.pop, key))


def may_wait() -> bool:
    """Whether this thread may wait: other threads read the replies meanwhile."""
    if _serves():
        return False
    for each in list(_sections.values()):
        section = each()
        if section is not None and section._is_owned():  # type: ignore[attr-defined]
            return False
    return True


def _begin_anew() -> None:
    """Called in a forked process. Its only thread reads no replies and runs no timer, even if the parent's
    thread did.
    """
    _threads.clear()
    _sections.clear()


if hasattr(os, "register_at_fork"):  # Not on Windows.
    os.register_at_fork(after_in_child=_begin_anew)
