"""Forks inside a block; the child ends with sys.exit(3), the parent continues. Arguments: URL, name, and the
kind of block: of a lock in the client for `threads`, in the client for `asyncio` or in `compat`, or of the
`client`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections.abc import Callable

import fencepost
import fencepost.asyncio

# About a fork in a process with threads, which is the subject of this test.
warnings.simplefilter("ignore", DeprecationWarning)
warnings.simplefilter("ignore", ResourceWarning)

url, name, how = sys.argv[1:]


def fork(is_valid: Callable[[], bool]) -> None:
    """The body."""
    child = os.fork()
    if not child:
        sys.exit(3)
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    print("valid" if is_valid() else "lost", flush=True)


def in_threads() -> None:
    """The block of a lock."""
    client = fencepost.connect(url)
    with client.lock(name) as grant:
        fork(lambda: grant.is_valid)
    client.close()


def in_client() -> None:
    """The block of a client."""
    with fencepost.connect(url) as client:
        grant = client.lock(name).acquire()
        assert grant is not None
        fork(lambda: grant.is_valid)
        grant.release()


async def in_asyncio() -> None:
    """The block of a lock in a task."""
    client = fencepost.asyncio.connect(url)
    try:
        async with client.lock(name) as grant:
            fork(lambda: grant.is_valid)
    except SystemExit as end:
        # Before the child's loop ends: its end would remove the descriptors from the parent's loop.
        os._exit(int(str(end.code)))
    await client.close()


def in_compat() -> None:
    """The block of a lock with kazoo's API."""
    from fencepost.compat.kazoo import KazooClient

    hosts = url.partition("://")[2].partition("?")[0]
    client = KazooClient(hosts=hosts)
    client.start()
    lock = client.Lock(name)
    with lock:
        fork(lambda: lock.is_acquired)
    client.stop()
    client.close()


try:
    if how == "asyncio":
        asyncio.run(in_asyncio())
    else:
        {"threads": in_threads, "client": in_client, "compat": in_compat}[how]()
except SystemExit as end:
    os._exit(int(str(end.code)))
