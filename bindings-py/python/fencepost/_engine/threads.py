"""The client's threads. They are daemons, because none of them may keep the process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable


def start(name: str, work: Callable[..., object], *arguments: object) -> threading.Thread | None:
    """Starts a thread. Gives None if Python cannot start one: since 3.12 it starts none while the interpreter
    shuts down, which is when functions of ``atexit`` run.
    """
    thread = threading.Thread(target=work, args=arguments, name=f"fencepost {name}", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
