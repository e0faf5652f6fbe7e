"""The two sides of a read/write lock."""

from __future__ import annotations

from typing import Generic, TypeVar

from .noncopyable import Noncopyable

Side = TypeVar("Side")


class BaseReadWriteLock(Noncopyable, Generic[Side]):
    """A read/write lock, made by ``client.read_write_lock(name)``. Many readers hold it together; a writer
    holds it alone.

    The resource remembers the highest fence of a *writer*. It refuses every reader and writer whose fence is
    lower. It does not remember the fences of readers. A reader cannot become a writer: release the reader
    first, then acquire the writer.
    """

    __slots__ = ("__weakref__", "name", "reader", "writer")

    def __init__(self, name: str, reader: Side, writer: Side) -> None:
        self.name = name
        """The name, as it was given."""
        self.reader = reader
        """The lock for readers. The server grants it when no writer holds it, and no earlier writer waits."""
        self.writer = writer
        """The lock for writers. The server grants it when all earlier readers and writers have left."""

    def __repr__(self) -> str:
        return f"<{type(self).__module__.partition('._')[0]}.ReadWriteLock {self.name!r}>"
