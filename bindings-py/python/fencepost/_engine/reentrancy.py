"""Where a call may not wait.

Python runs finalizers and signal handlers at any point of a thread: also inside an engine's critical section,
and on a thread that reads a client's answers. A call that waited there would wait for ever, because its own
thread is the one that would have to read the answer.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from .engine import Engine


class _Thread(threading.local):
    serves = False


_thread = _Thread()
_engines: dict[int, ref[Engine]] = {}


def serve() -> None:
    """This thread reads answers or runs a timer."""
    _thread.serves = True


def watch(engine: Engine) -> None:
    """Remembers an engine, until it is gone."""
    key = id(engine)
    # The callback is not a Python function: an interrupt in one would be dropped, and the engine stay here.
    _engines[key] = ref(engine, partial(_engines.pop, key))


def may_wait() -> bool:
    """Whether this thread may wait: other threads read the answers meanwhile."""
    if _thread.serves:
        return False
    for each in list(_engines.values()):
        engine = each()
        if engine is not None and engine.order._is_owned():  # type: ignore[attr-defined]
            return False
    return True
