"""Forks while it holds a lock on a server of this process, and acquires the lock in the child, too."""

from __future__ import annotations

import os
import warnings

import fencepost

# About a fork in a process with threads, which is the subject of this test.
warnings.simplefilter("ignore", DeprecationWarning)

client = fencepost.connect("memory:stock")
grant = client.lock("42").acquire()
assert grant is not None
child = os.fork()
if not child:
    with fencepost.connect("memory:stock") as own:
        print("nothing" if own.lock("42").acquire(blocking=False) is None else "granted", flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("valid" if grant.is_valid else "lost", flush=True)
grant.release()
client.close()
