"""The client for asyncio.

    import fencepost.asyncio

    async with fencepost.asyncio.connect("redis://localhost") as client:
        async with client.lock("stock/42", ttl=10) as grant:
            await db.sell(42, fence=grant.fence)          # cancelled if the lock is lost

The errors are those of :mod:`fencepost`.
"""

from __future__ import annotations

from .._client.arguments import OnLost
from ._claim import Claim, Claiming
from ._client import Client, connect
from ._grant import Grant
from ._idempotency import Idempotency, Once
from ._lock import Election, Lock, ReadWriteLock, Scope

__all__ = [
    "Claim",
    "Claiming",
    "Client",
    "Election",
    "Grant",
    "Idempotency",
    "Lock",
    "OnLost",
    "Once",
    "ReadWriteLock",
    "Scope",
    "connect",
]
