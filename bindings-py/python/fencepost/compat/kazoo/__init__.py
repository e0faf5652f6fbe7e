"""Kazoo's locks on fencepost's: the same classes, on the same nodes, without kazoo's defects.

Change one import, and ``client.Lock`` and the others are ours::

    from fencepost.compat.kazoo import KazooClient      # was: from kazoo.client import KazooClient

Or have a client that you already have give them, best before it is started::

    fencepost.compat.kazoo.install(client)

Or use the classes: ``Lock(client, "/stock/42", "till-7")``. Processes with kazoo's own locks and with these
exclude each other, so a team rolls out process by process. What is the same, what is better and what is
refused: ``README.md`` of the package, "Instead of kazoo".
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
    """Has ``client.Lock``, ``ReadLock``, ``WriteLock``, ``Semaphore`` and ``Election`` give fencepost's.

    Gives the client back. On a client that is connected already, the first grant comes no sooner than a
    quarter of the session's timeout later: until then nobody can say how long the session is certain to last.
    Raises ConfigError for a client that has another handler than kazoo's for threads.
    """
    kazoo: Any = client
    for name, recipe in _RECIPES.items():
        setattr(kazoo, name, partial(recipe, kazoo))
    Bridge.of(kazoo)
    start = type(kazoo).start_async

    def start_async() -> Any:
        # After a stop there is none; before the start it is in time to see the session begin.
        Bridge.of(kazoo)
        return start(kazoo)

    kazoo.start_async = start_async
    return client


class KazooClient(_kazoo.KazooClient):  # type: ignore[misc]  # kazoo has no types
    """Kazoo's client, whose locks are fencepost's."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        install(self)


__all__ = ["Election", "KazooClient", "Lock", "ReadLock", "Semaphore", "WriteLock", "install"]
