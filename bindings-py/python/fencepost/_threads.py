"""Threads of the client: daemons, as none of them may keep the process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable


def start(name: str, work: Callable[..., object], *arguments: object) -> threading.Thread | None:
    """Starts a thread. None where there can be none: Python 3.12 starts none once the interpreter is on its
    way out, which is when functions of ``atexit`` run.
    """
    thread = threading.Thread(target=work, args=arguments, name=f"fencepost {name}", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
