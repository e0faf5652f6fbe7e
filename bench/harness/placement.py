"""On which processors the server and the workers run.

Two processes that talk in turns can share a processor, or have one each and wake it for every message, which
takes several times as long. A scheduler chooses one or the other for minutes, and not the same for two,
so that what was to be a ratio of programs would be one of its choices.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .complaint import Complaint
from .servers import Control

#: The server has a processor to itself; it shares one with the workers; as it comes.
PLACEMENTS = ("apart", "together", "free")

#: Servers that carry out commands in one thread. ZooKeeper's have a dozen, and fill what they find.
PLACED = ("redis",)


@contextmanager
def placed(family: str, placement: str, control: Control) -> Iterator[None]:
    """Has the family's server and all workers that are started within run where they are to."""
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
