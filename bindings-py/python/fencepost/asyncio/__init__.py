"""The client for asyncio.

    import fencepost.asyncio

    async with fencepost.asyncio.connect("redis://localhost") as client:
        async with client.lock("stock/42", ttl=10) as grant:
            await db.sell(42, fence=grant.fence)          # cancelled if the lock is lost

Errors are those of :mod:`fencepost`.
"""

from __future__ import annotations

from ._client import Client, Grant, Lock, Scope, connect

__all__ = ["Client", "Grant", "Lock", "Scope", "connect"]
