"""Holds a lock until its input ends, and prints the outcome of the release. Arguments: URL, name, lease in
seconds (0: the default), and `asyncio` for the client for asyncio, `compat` for a lock with kazoo's API, or
`unfair` for a single node.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import fencepost
import fencepost.asyncio


def main(url: str, name: str, lease: str, *how: str) -> None:
    """Holds the lock."""
    options: dict[str, Any] = {"ttl": float(lease)} if float(lease) else {}
    if how == ("unfair",):
        options["fair"] = False
    elif how == ("compat",):
        hold_compat(url, name)
        return
    elif how:
        asyncio.run(hold(url, name, options))
        return
    with fencepost.connect(url) as client:
        try:
            with client.lock(name, **options) as grant:
                print(grant.fence, flush=True)
                sys.stdin.read()
            print("released", flush=True)
        except fencepost.LockLost:
            print("LockLost", flush=True)


async def hold(url: str, name: str, options: dict[str, Any]) -> None:
    """Holds the lock in asyncio."""
    async with fencepost.asyncio.connect(url) as client:
        try:
            async with client.lock(name, **options, on_lost="keep") as grant:
                print(grant.fence, flush=True)
                await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            print("released", flush=True)
        except fencepost.LockLost:
            print("LockLost", flush=True)


def hold_compat(url: str, name: str) -> None:
    """Holds a lock with kazoo's API."""
    from fencepost.compat.kazoo import KazooClient

    client = KazooClient(hosts=url.partition("://")[2].partition("?")[0], timeout=30)
    client.start()
    lock = client.Lock(name)
    lock.acquire()
    print(lock.fence, flush=True)
    sys.stdin.read()
    print(lock.release(), flush=True)
    client.stop()
    client.close()


main(*sys.argv[1:])
