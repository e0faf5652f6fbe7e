"""The client's threads. They are daemons, because none of them may keep the process alive."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

SHUTTING_DOWN = "the interpreter is shutting down. Make the call earlier, for example in a function of atexit"
"""Why a call cannot wait when Python has stopped the threads. Then only finalizers run."""


def start(name: str, work: Callable[..., object], *arguments: object) -> threading.Thread | None:
    """Starts a thread. Returns None if Python cannot start one: since version 3.12, Python starts none while
    functions of ``atexit`` run. After that, every version stops a new thread before its first line.
    """
    if sys.is_finalizing():
        return None
    thread = threading.Thread(target=work, args=arguments, name=f"fencepost {name}", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


def join(thread: threading.Thread | None, within: float) -> None:
    """Waits for the end of a thread, for at most ``within`` seconds. Does not wait for the calling thread,
    nor for one that Python has stopped.
    """
    if thread is not None and thread is not threading.current_thread() and not sys.is_finalizing():
        thread.join(within)


def is_free(lock: threading.Lock | threading.RLock) -> bool:
    """Whether the calling thread can take a lock at once."""
    if not lock.acquire(blocking=False):
        return False
    lock.release()
    return True
