"""Waits for a lock until it is interrupted. Arguments: URL, name, and permits for a semaphore."""

from __future__ import annotations

import sys

import fencepost

with fencepost.connect(sys.argv[1]) as client:
    lock = client.semaphore(sys.argv[2], int(sys.argv[3])) if sys.argv[3:] else client.lock(sys.argv[2])
    assert lock.acquire(blocking=False) is None
    try:
        print("waiting", flush=True)
        lock.acquire()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    sys.stdin.read()
