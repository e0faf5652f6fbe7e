"""Distributed locks on ZooKeeper and Redis that exclude programs in other languages, too.

    import fencepost

    with fencepost.connect("redis://localhost") as client:
        stock = client.lock("stock/42", ttl=10)
        with stock as grant:
            db.sell(42, fence=grant.fence)
        if grant := stock.acquire(timeout=0.2):
            with grant:
                ...

On all servers, :meth:`Client.idempotency` runs operations once for each key::

    @client.idempotency("payments").once(key=lambda order: order.id)
    def pay(order): ...

:mod:`fencepost.asyncio` has the client for asyncio. :mod:`fencepost.hub` is for programs that have their own
event loop. No lock can guarantee mutual exclusion across a network by itself: the resource must check the
``fence`` of each grant.
"""

from __future__ import annotations

import sys

if "t" in getattr(sys, "abiflags", ""):
    raise ImportError(
        "fencepost does not support free-threaded Python yet: use a Python with the global interpreter lock"
    )

from ._client.arguments import Duration, Layout, OnLeaseEnd, SharedLayout
from ._client.claim import Claim
from ._client.client import Client, connect
from ._client.codec import BYTES, JSON, Codec
from ._client.grant import Grant
from ._client.idempotency import Idempotency, Once
from ._client.inspection import Found
from ._client.lock import Election, Lock, ReadWriteLock, Scope
from ._client.operations import Outcome
from ._engine.record import Record
from ._fencepost import __version__
from .errors import (
    ClaimLost,
    CleanupIncomplete,
    ConfigError,
    Conflict,
    DriverError,
    DriverMissing,
    FencepostError,
    Indeterminate,
    InProgress,
    LockLost,
    Mismatch,
    MisuseError,
    MixedLayoutsWarning,
    NotAcquired,
    Refused,
    ReleaseUnconfirmed,
    StoredError,
    WrongProcess,
)

__all__ = [
    "BYTES",
    "JSON",
    "Claim",
    "ClaimLost",
    "CleanupIncomplete",
    "Client",
    "Codec",
    "ConfigError",
    "Conflict",
    "DriverError",
    "DriverMissing",
    "Duration",
    "Election",
    "FencepostError",
    "Found",
    "Grant",
    "Idempotency",
    "InProgress",
    "Indeterminate",
    "Layout",
    "Lock",
    "LockLost",
    "Mismatch",
    "MisuseError",
    "MixedLayoutsWarning",
    "NotAcquired",
    "OnLeaseEnd",
    "Once",
    "Outcome",
    "ReadWriteLock",
    "Record",
    "Refused",
    "ReleaseUnconfirmed",
    "Scope",
    "SharedLayout",
    "StoredError",
    "WrongProcess",
    "__version__",
    "connect",
]
