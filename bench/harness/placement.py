"""On which processors the server and the workers run.

Two processes that exchange messages can share a processor, or have one each. With one each, every message
wakes a processor and takes several times as long. A scheduler makes this choice for minutes, and not the same
choice for two programs. So a ratio of two programs would depend on these choices.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .complaint import Complaint
from .servers import Control

#: The server has a processor to itself; it shares one with the workers; the scheduler decides.
PLACEMENTS = ("apart", "together", "free")

#: Servers that run commands in one thread. ZooKeeper has a dozen threads, which use all processors.
PLACED = ("redis",)


@contextmanager
def placed(family: str, placement: str, control: Control) -> Iterator[None]:
    """Places the family's server, and all workers that start within the block, on their processors."""
    if placement == "free" or family not in PLACED:
        yield
        return
    processors = sorted(os.sched_getaffinity(0))
    servers = {processors[0]}
    workers = servers if placement == "together" else {*processors[1:]}
    if not workers:
        raise Complaint("there is one processor: --placement together, or free")
    pid = control.pid(family)
    _move(pid, servers)
    os.sched_setaffinity(0, workers)  # workers inherit it
    try:
        yield
    finally:
        os.sched_setaffinity(0, processors)
        _move(pid, set(processors))


def _move(pid: int, processors: set[int]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), processors)
