"""Kazoo's lock classes with fencepost's protocol inside: the same nodes on the server, without kazoo's
defects.

Change one import, and ``client.Lock`` and the other recipes are fencepost's::

    from fencepost.compat.kazoo import KazooClient      # was: from kazoo.client import KazooClient

Or install them in a client that you already have, best before you start it::

    fencepost.compat.kazoo.install(client)

Or use the classes: ``Lock(client, "/stock/42", "till-7")``. Kazoo's own locks and these exclude each other,
so you can change one process after the other. The section "Instead of kazoo" of the package's ``README.md``
describes the differences.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from kazoo import client as _kazoo

from ._bridge import Bridge
from ._election import Election
from ._lock import Lock, ReadLock, WriteLock
from ._semaphore import Semaphore

_RECIPES = {
    "Election": Election,
    "Lock": Lock,
    "ReadLock": ReadLock,
    "Semaphore": Semaphore,
    "WriteLock": WriteLock,
}

AnyClient = TypeVar("AnyClient")


def install(client: AnyClient) -> AnyClient:
    """Replaces ``client.Lock``, ``ReadLock``, ``WriteLock``, ``Semaphore`` and ``Election`` by fencepost's.
    Returns the client.

    If the client is connected already, its first grant comes after a quarter of the session timeout at the
    earliest: until then the client cannot prove how long the session lasts. Raises ConfigError for a client
    whose handler is not kazoo's for threads.
    """
    kazoo: Any = client
    for name, recipe in _RECIPES.items():
        setattr(kazoo, name, partial(recipe, kazoo))
    Bridge.of(kazoo)
    start = type(kazoo).start_async

    def start_async() -> Any:
        # After a stop there is no bridge. A bridge that is made before the start sees the session begin.
        Bridge.of(kazoo)
        return start(kazoo)

    kazoo.start_async = start_async
    return client


class KazooClient(_kazoo.KazooClient):  # type: ignore[misc]  # kazoo has no types
    """Kazoo's client with fencepost's locks."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Accepts the arguments of kazoo's client."""
        super().__init__(*arguments, **options)
        install(self)


__all__ = ["Election", "KazooClient", "Lock", "ReadLock", "Semaphore", "WriteLock", "install"]
