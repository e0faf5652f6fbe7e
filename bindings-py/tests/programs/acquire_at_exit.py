"""Makes the first acquire of a client when the process ends, and prints its outcome. Arguments: URL, name,
and the place of the acquire: a function of `atexit`, or a `finalizer` that runs after them.
"""

from __future__ import annotations

import atexit
import builtins
import sys

import fencepost

url, name, where = sys.argv[1:]


class Shop:
    """Acquires the lock at the end."""

    def __init__(self) -> None:
        self.client = fencepost.connect(url)

    def acquire(self) -> None:
        """Prints the outcome of an acquire with a timeout."""
        try:
            grant = self.client.lock(name).acquire(timeout=0.2)
            print("granted" if grant else "held", flush=True)
        except fencepost.FencepostError as error:
            print(error.name, flush=True)


class Last(Shop):
    """Its finalizer acquires."""

    def __del__(self) -> None:
        self.acquire()


if where == "atexit":
    atexit.register(Shop().acquire)
else:
    builtins.last = Last()  # type: ignore[attr-defined]
