"""The client's threads. They are daemons, because none of them may keep the process alive."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from ..errors import MisuseError
from .wording import shown

SHUTTING_DOWN = (
    "the interpreter is shutting down. Make the call earlier: a function of atexit may close clients and "
    "release grants, but not acquire"
)
"""Why a call cannot wait when Python has stopped the threads, or starts none any more."""


class NoThread(RuntimeError):
    """Python cannot start a thread.

    The system may refuse it, because there are too many threads. Since version 3.12, Python starts none while
    functions of ``atexit`` run. After that, every version stops a new thread before its first line.
    """


def start(name: str, work: Callable[..., object], *arguments: object) -> threading.Thread:
    """Starts a thread. Raises NoThread."""
    if sys.is_finalizing():
        raise NoThread("can't start new thread at interpreter shutdown")
    thread = threading.Thread(target=work, args=arguments, name=f"fencepost {name}", daemon=True)
    try:
        thread.start()
    except RecursionError:  # It is a RuntimeError, too.
        raise
    except RuntimeError as error:
        raise NoThread(str(error)) from error
    return thread


def try_start(name: str, work: Callable[..., object], *arguments: object) -> threading.Thread | None:
    """Starts a thread. Returns None if Python cannot start one."""
    try:
        return start(name, work, *arguments)
    except NoThread:
        return None


def cannot_wait(why: str, name: str | None = None) -> MisuseError:
    """The error of a call that would wait for ever. ``name`` is the lock's."""
    subject = "" if name is None else f"{shown(name)}: "
    return MisuseError(f"{subject}this call cannot wait: {why}", 543, "cannot-wait")


def without_thread(error: NoThread) -> MisuseError:
    """The error of a call that would wait for a thread which Python cannot start."""
    if sys.is_finalizing() or "shutdown" in str(error):
        return cannot_wait(SHUTTING_DOWN)
    return cannot_wait(
        f"the client needs a thread, and Python reports: {error}. Raise the limit of threads, such as "
        "`ulimit -u` or the pids limit of the container"
    )


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
