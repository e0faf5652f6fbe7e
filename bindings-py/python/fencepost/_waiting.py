"""Where a program may not wait for its client.

The collector runs the program's finalizers in the middle of anything, and a signal its handlers: also inside
a critical section of an engine, and on a thread that serves a client. What is asked for there cannot wait for
an answer, as no thread takes answers in meanwhile.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from ._engine import Engine


class _Thread(threading.local):
    serves = False


_thread = _Thread()
_engines: dict[int, ref[Engine]] = {}


def serve() -> None:
    """This thread takes answers in, or keeps the time."""
    _thread.serves = True


def watch(engine: Engine) -> None:
    """An engine has come."""
    key = id(engine)
    # Without a line of Python: an interrupt would be raised in it, and be dropped with the rest of it.
    _engines[key] = ref(engine, partial(_engines.pop, key))


def may_wait() -> bool:
    """Whether answers are taken in while this thread waits."""
    if _thread.serves:
        return False
    for each in list(_engines.values()):
        engine = each()
        if engine is not None and engine.order._is_owned():  # type: ignore[attr-defined]
            return False
    return True
