"""Uses a client and a grant after a fork, in the child; then in the parent, as before. Prints the errors'
names. Arguments: URL, name.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable

import fencepost

warnings.simplefilter(
    "ignore", DeprecationWarning
)  # about a fork in a process with threads, which is the subject of this test


def error_of(call: Callable[[], object]) -> str:
    """The name of the error that a call raises."""
    try:
        call()
    except fencepost.FencepostError as error:
        return f"{type(error).__name__}:{error.code}:{error.name}"
    return "none"


client = fencepost.connect(sys.argv[1])
lock = client.lock(sys.argv[2], owner="request-17")
grant = lock.hold().__enter__()
inner = lock.hold().__enter__()

child = os.fork()
if child == 0:
    calls: list[Callable[[], object]] = [
        lock.acquire,
        lock.hold().__enter__,
        inner.release,
        grant.release,
        grant.extend,
        grant.downgrade,
        grant.remaining,
        lambda: grant.is_valid,
        lambda: grant.lost,
        lambda: grant.__exit__(None, None, None),
        client.close,
        lambda: client.lock("another"),
        client.__enter__,
    ]
    names = {error_of(call) for call in calls}
    print(*sorted(names), flush=True)
    # If the child drops the objects of the parent, nothing is released.
    del inner, grant, lock, client, calls
    gc.collect()
    with fencepost.connect("memory:") as own, own.lock("a"):
        print("own", flush=True)
    os._exit(0)

os.waitpid(child, 0)
inner.release()
print("valid" if grant.is_valid else "lost", flush=True)
grant.release()
with lock.hold(timeout=30):
    print("held", flush=True)
client.close()
