"""Child processes that the kernel ends when this process ends, even by SIGKILL."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def dies_with_us(death: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the child gets its own process group, and the signal `death` when this process ends.

    Because of its own group, a Ctrl-C at the terminal does not reach it. The kernel counts the thread that
    started the child as the parent, so start children from the main thread only.
    """
    parent = os.getpid()

    def prepare() -> None:
        os.setpgid(0, 0)
        request_death_signal(parent, death)

    return prepare


def request_death_signal(parent: int, death: signal.Signals) -> None:
    """Requests the signal `death` when the parent ends. Exits if the parent has already ended."""
    if _libc.prctl(PR_SET_PDEATHSIG, int(death), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os._exit(1)
