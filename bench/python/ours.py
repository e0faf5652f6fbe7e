"""fencepost, by address or on an existing client."""

from __future__ import annotations

import fencepost
import fencepost.asyncio
from addresses import Address
from raw_zookeeper import connected


def of_kind(client: fencepost.Client, name: str, kind: str) -> fencepost.Lock:
    """The kinds of locks. A semaphore has one permit."""
    if kind == "semaphore":
        return client.semaphore(name, 1)
    if kind == "mutex":
        return client.lock(name)
    pair = client.read_write_lock(name)
    return pair.reader if kind == "read" else pair.writer


class Ours:
    """For threads."""

    def __init__(self, client: fencepost.Client, name: str, kind: str = "mutex") -> None:
        self._client = client
        self._lock = of_kind(client, name, kind)
        self._grant: fencepost.Grant | None = None

    def acquire(self) -> None:
        """Waits for it."""
        self._grant = self._lock.acquire()

    def release(self) -> None:
        """Gives it back."""
        assert self._grant is not None
        self._grant.release()

    def close(self) -> None:
        """Hangs up."""
        self._client.close()


class OursGiven(Ours):
    """On a KazooClient with kazoo's default handler; `connect` makes one with a faster handler."""

    def __init__(self, address: Address, name: str) -> None:
        self._kazoo = connected(address)
        super().__init__(fencepost.Client(self._kazoo), name)

    def close(self) -> None:
        """Closes the client, and ends the session, which fencepost does not own."""
        super().close()
        self._kazoo.stop()
        self._kazoo.close()


class OursAsync:
    """For asyncio."""

    def __init__(self, client: fencepost.asyncio.Client, name: str) -> None:
        self._client = client
        self._lock = client.lock(name)
        self._grant: fencepost.asyncio.Grant | None = None

    def another(self, name: str) -> OursAsync:
        """Returns another lock on the same client."""
        return OursAsync(self._client, name)

    async def acquire(self) -> None:
        """Waits for it."""
        self._grant = await self._lock.acquire()

    async def release(self) -> None:
        """Gives it back."""
        assert self._grant is not None
        await self._grant.release()

    async def close(self) -> None:
        """Hangs up."""
        await self._client.close()
