"""The two sides of a read/write lock."""

from __future__ import annotations

from typing import Generic, TypeVar

from ._unique import Unique

Side = TypeVar("Side")


class Pair(Unique, Generic[Side]):
    """A lock that readers share and writers have alone. Made by ``client.read_write_lock(name)``.

    A reader's fence is no older than the last writer's: a resource refuses a reader whose fence is below the
    highest *writer's* it has seen, and does not raise that for a reader. Nobody turns from a reader into a
    writer: release first.
    """

    __slots__ = ("__weakref__", "name", "reader", "writer")

    def __init__(self, name: str, reader: Side, writer: Side) -> None:
        self.name = name
        """The name, as it was given."""
        self.reader = reader
        """The shared side: granted while no writer holds it or came earlier."""
        self.writer = writer
        """The exclusive side: granted when everybody who came earlier is gone."""

    def __repr__(self) -> str:
        return f"<{type(self).__module__.partition('._')[0]}.ReadWriteLock {self.name!r}>"
