"""The watches of our reads on one KazooClient.

Kazoo keeps a watcher until the server sends its event, even when the contender that wanted it has given up,
and calls it on another thread than replies. These are called on the connection's thread, in the order of the
wire, and go with their contender.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Protocol

CREATED, DELETED, CHANGED, CHILDREN = 1, 2, 3, 4
"""The protocol's kinds of events."""
_DATA, _LIST = "data", "list"
_FIRED = {CREATED: (_DATA,), CHANGED: (_DATA,), DELETED: (_DATA, _LIST), CHILDREN: (_LIST,)}

Owner = tuple[int, int]
"""A driver's number and a machine's."""


class Watching(Protocol):
    """A read that has set a watch."""

    @property
    def owner(self) -> Owner:
        """Whose it is."""

    @property
    def of_list(self) -> bool:
        """Whether a list of children is watched, and not a node's data."""

    @property
    def path(self) -> str:
        """The whole path on the server."""

    def is_wanted(self) -> bool:
        """Whether its machine's contender has not ended. Takes no lock."""

    def told(self, event: str) -> None:
        """``deleted``, ``changed`` or ``gone``."""


class Watches:
    """A table of watches. Its lock is held for a look at the table only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: dict[tuple[str, str], set[Watching]] = {}
        self._of: dict[Owner, set[Watching]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def add(self, watch: Watching) -> None:
        """The server has set a watch."""
        place = (_LIST if watch.of_list else _DATA, watch.path)
        with self._lock:
            # Here, because `forget` comes after the contender's end.
            if watch.is_wanted():
                self._at.setdefault(place, set()).add(watch)
                self._of.setdefault(watch.owner, set()).add(watch)

    def forget(self, owner: Owner) -> None:
        """A contender has ended."""
        with self._lock:
            self._remove(self._of.get(owner, ()))

    def fired(self, event: int, path: str) -> list[Watching]:
        """Takes those out that an event of the server is for."""
        with self._lock:
            found = [watch for kind in _FIRED.get(event, ()) for watch in self._at.get((kind, path), ())]
            self._remove(found)
        return found

    def clear(self) -> list[Watching]:
        """Takes all out: the server has forgotten them with the connection."""
        with self._lock:
            found = [watch for watches in self._of.values() for watch in watches]
            self._at.clear()
            self._of.clear()
        return found

    def _remove(self, watches: Iterable[Watching]) -> None:
        for watch in list(watches):
            place = (_LIST if watch.of_list else _DATA, watch.path)
            _take(self._at, place, watch)
            _take(self._of, watch.owner, watch)


def _take(table: dict[Any, set[Watching]], key: object, watch: Watching) -> None:
    """Takes a watch out of one of the tables."""
    left = table.get(key)
    if left is not None:
        left.discard(watch)
        if not left:
            del table[key]
