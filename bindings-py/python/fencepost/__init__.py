"""Distributed locks on ZooKeeper and Redis that exclude programs in other languages, too.

    import fencepost

    with fencepost.connect("redis://localhost") as client:
        stock = client.lock("stock/42", ttl=10)
        with stock as grant:
            db.sell(42, fence=grant.fence)
        if grant := stock.acquire(timeout=0.2):
            with grant:
                ...

:mod:`fencepost.asyncio` has the client for asyncio. :mod:`fencepost.hub` is for programs with an event loop
of their own. No lock gives mutual exclusion across a network by itself. Have the resource check the ``fence``
of a grant.
"""

from __future__ import annotations

from ._client.arguments import Duration, Layout, SharedLayout
from ._client.client import Client, connect
from ._client.grant import Grant
from ._client.inspection import Found
from ._client.lock import Election, Lock, ReadWriteLock, Scope
from ._fencepost import __version__
from .errors import (
    CleanupIncomplete,
    ConfigError,
    DriverError,
    FencepostError,
    LockLost,
    MisuseError,
    MixedLayoutsWarning,
    NotAcquired,
    Refused,
    ReleaseUnconfirmed,
    WrongProcess,
)

__all__ = [
    "CleanupIncomplete",
    "Client",
    "ConfigError",
    "DriverError",
    "Duration",
    "Election",
    "FencepostError",
    "Found",
    "Grant",
    "Layout",
    "Lock",
    "LockLost",
    "MisuseError",
    "MixedLayoutsWarning",
    "NotAcquired",
    "ReadWriteLock",
    "Refused",
    "ReleaseUnconfirmed",
    "Scope",
    "SharedLayout",
    "WrongProcess",
    "__version__",
    "connect",
]
