"""The watches of fencepost on one KazooClient.

Kazoo keeps a watcher until the server sends its event, even if the contender has ended, and it calls watchers
and replies on different threads. These watches are called on the connection's thread, in the order of the
wire, and are removed with their machine.
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
"""The identity of a driver and the key of a machine."""


class Watching(Protocol):
    """A read that has set a watch."""

    @property
    def owner(self) -> Owner:
        """The machine that set the watch."""

    @property
    def of_list(self) -> bool:
        """True: it watches a list of children. False: it watches a node's data."""

    @property
    def path(self) -> str:
        """The path on the server, with the client's chroot."""

    def is_wanted(self) -> bool:
        """Whether its machine still serves a contender. Takes no lock of the engine."""

    def notify(self, event: str) -> None:
        """Reports ``deleted``, ``changed`` or ``gone`` to the machine."""


class Watches:
    """A table of watches. Its lock is held only while a thread reads or changes the table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: dict[tuple[str, str], set[Watching]] = {}
        self._of: dict[Owner, set[Watching]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def add(self, watch: Watching) -> None:
        """Adds a watch that the server has set."""
        place = (_LIST if watch.of_list else _DATA, watch.path)
        with self._lock:
            # Under this lock: `forget` runs after the contender's end. So this check sees the end, or
            # `forget` sees this watch.
            if watch.is_wanted():
                self._at.setdefault(place, set()).add(watch)
                self._of.setdefault(watch.owner, set()).add(watch)

    def forget(self, owner: Owner) -> None:
        """Removes the watches of a machine."""
        with self._lock:
            self._remove(self._of.get(owner, ()))

    def leave(self, driver: int) -> None:
        """Removes the watches of a driver that ends."""
        with self._lock:
            for owner in [owner for owner in self._of if owner[0] == driver]:
                self._remove(self._of[owner])

    def fired(self, event: int, path: str) -> list[Watching]:
        """Removes and returns the watches that an event of the server concerns."""
        with self._lock:
            found = [watch for kind in _FIRED.get(event, ()) for watch in self._at.get((kind, path), ())]
            self._remove(found)
        return found

    def clear(self) -> list[Watching]:
        """Removes and returns all watches: the server has dropped them with the connection."""
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
    """Removes a watch from one of the tables."""
    left = table.get(key)
    if left is not None:
        left.discard(watch)
        if not left:
            del table[key]
