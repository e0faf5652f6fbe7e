"""Ends while a daemon thread waits for the reply to its release, at the end of a block. Arguments: URL, name,
and the block: of a `lock`, of its `hold`, or of a `grant`.
"""

from __future__ import annotations

import os
import sys
import threading
import time

import fencepost

url, name, kind = sys.argv[1:]
client = fencepost.connect(url, connect_timeout=60)
lock = client.lock(name)
leaving = threading.Event()


class Late:
    """A finalizer that runs after Python has stopped the threads. Meanwhile the reply arrives."""

    def __init__(self) -> None:
        self.sleep, self.write = time.sleep, os.write

    def __del__(self) -> None:
        self.sleep(1)
        self.write(1, b"late\n")


def use() -> None:
    """The thread."""
    grant = lock.acquire() if kind == "grant" else None
    with grant or (lock if kind == "lock" else lock.hold(timeout=60)):
        leaving.set()


setattr(sys, "late", Late())  # noqa: B010 - Python clears this module last.
threading.Thread(target=use, daemon=True).start()
if not leaving.wait(70):
    sys.exit("the thread has no lock")
print("done", flush=True)
