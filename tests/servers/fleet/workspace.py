"""The temporary directory of one run, and the removal of directories whose owner died.

It lies in memory where there is room: a server that logs to a disk which is busy with something else answers
seconds late, and ends the sessions of tests that have no such fault in mind.

The owner holds a lock (flock) on a file in its directory for as long as it lives. The kernel releases it
when the owner dies in any way, so a directory whose lock can be taken is stale.
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
    """A fresh directory, deleted by `remove`."""

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
    """Where directories of runs are made: where `TMPDIR` says, or in memory, or where all others are."""
    if "TMPDIR" not in os.environ and roomy(MEMORY):
        return MEMORY
    return Path(tempfile.gettempdir())


def roomy(directory: Path) -> bool:
    """Whether one may write to it, and there are ROOM bytes free."""
    try:
        return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free >= ROOM
    except OSError:
        return False


def take(directory: Path) -> IO[str] | None:
    """Takes the lock of `directory`; None if it has an owner or is already gone."""
    path = directory / LOCK
    try:
        lock = open(path, "a")  # noqa: SIM115 - the caller keeps it for as long as it holds the lock
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between open and flock another process may have swept the directory.
        if path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
            return lock
    except OSError:
        pass
    lock.close()
    return None


def sweep() -> None:
    """Deletes the directories of our user whose owners are dead, wherever there was room for them."""
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
