"""The temporary directory of one run, and the removal of directories whose owner has ended.

It is in memory if there is enough space. On a busy disk, a server that writes its log replies seconds late,
and sessions end in tests that do not expect such a fault.

The owner holds a lock (flock) on a file in its directory while it runs. The kernel releases the lock when the
owner ends in any way. So if another process can get the lock, the directory is stale.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

PREFIX = "fencepost-servers-"
LOCK = "owner.lock"
MEMORY = Path("/dev/shm")
ROOM = 1 << 30


class Workspace:
    """A new directory, which `remove` deletes."""

    def __init__(self) -> None:
        sweep()
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent()))
            lock = take(path)
            if lock is not None:
                break
        self.path = path
        self._lock = lock

    def remove(self) -> None:
        """Deletes the directory. The servers must have ended."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def parent() -> Path:
    """The parent of the directories of runs: `TMPDIR`, or in memory, or the default."""
    if "TMPDIR" not in os.environ and roomy(MEMORY):
        return MEMORY
    return Path(tempfile.gettempdir())


def roomy(directory: Path) -> bool:
    """Whether it is writable, with ROOM bytes free."""
    try:
        return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free >= ROOM
    except OSError:
        return False


def take(directory: Path) -> IO[str] | None:
    """Acquires the lock of `directory`; None if it has an owner or no longer exists."""
    path = directory / LOCK
    try:
        lock = open(path, "a")  # noqa: SIM115 - the caller keeps it for as long as it holds the lock
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between open and flock, another process may have deleted the directory.
        if path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
            return lock
    except OSError:
        pass
    lock.close()
    return None


def sweep() -> None:
    """Deletes the directories of this user whose owners have ended, in all possible parents."""
    places = {MEMORY, Path(tempfile.gettempdir())}
    for directory in (found for place in places for found in place.glob(PREFIX + "*")):
        try:
            if directory.stat().st_uid != os.geteuid():
                continue
        except OSError:
            continue
        lock = take(directory)
        if lock is not None:
            shutil.rmtree(directory, ignore_errors=True)
            lock.close()
