"""Holds a lock until its input ends. Arguments: URL, name, lease in seconds (0: the default), and `asyncio`
for that client or `unfair` for a single node.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import fencepost
import fencepost.asyncio


def main(url: str, name: str, lease: str, *how: str) -> None:
    """Holds it."""
    options: dict[str, Any] = {"ttl": float(lease)} if float(lease) else {}
    if how == ("unfair",):
        options["fair"] = False
    elif how:
        asyncio.run(hold(url, name, options))
        return
    with fencepost.connect(url) as client, client.lock(name, **options) as grant:
        print(grant.fence, flush=True)
        sys.stdin.read()


async def hold(url: str, name: str, options: dict[str, Any]) -> None:
    """Holds it in asyncio."""
    async with fencepost.asyncio.connect(url) as client, client.lock(name, **options) as grant:
        print(grant.fence, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


main(*sys.argv[1:])
