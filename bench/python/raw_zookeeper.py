"""kazoo alone: create and children in one flight, then delete. Names and data are as long as fencepost's."""

from __future__ import annotations

import asyncio
from typing import Any

from addresses import Address
from kazoo.client import KazooClient

PREFIX = "_c_00000000-0000-0000-0000-000000000001-lock-"
DATA = b"0" * 34


def connected(address: Address) -> KazooClient:
    """A client with kazoo's defaults."""
    client = KazooClient(f"{address.host}:{address.port}", timeout=address.session_seconds)
    client.start()
    return client


class RawZooKeeper:
    """For threads."""

    def __init__(self, client: KazooClient, name: str) -> None:
        self._client = client
        self._directory = f"/{name}"
        self._client.ensure_path(self._directory)
        self._prefix = f"{self._directory}/{PREFIX}"
        self._node = ""

    def acquire(self) -> None:
        """Creates and lists."""
        created = self._client.create_async(self._prefix, DATA, ephemeral=True, sequence=True)
        listed = self._client.get_children_async(self._directory)
        self._node = created.get()
        listed.get()

    def release(self) -> None:
        """Deletes."""
        self._client.delete(self._node)

    def close(self) -> None:
        """Ends the session."""
        self._client.stop()
        self._client.close()


class RawZooKeeperAsync:
    """For asyncio: the same requests, each awaited as a future that kazoo's thread completes."""

    def __init__(self, client: KazooClient, name: str) -> None:
        self._threads = RawZooKeeper(client, name)
        self._client = self._threads._client
        self._directory = f"/{name}"
        self._prefix = f"{self._directory}/{PREFIX}"
        self._node = ""
        self._loop = asyncio.get_running_loop()

    def another(self, name: str) -> RawZooKeeperAsync:
        """Returns another lock on the same client."""
        return RawZooKeeperAsync(self._client, name)

    async def acquire(self) -> None:
        """Creates and lists."""
        created = self._awaited(self._client.create_async(self._prefix, DATA, ephemeral=True, sequence=True))
        listed = self._awaited(self._client.get_children_async(self._directory))
        self._node = await created
        await listed

    async def release(self) -> None:
        """Deletes."""
        await self._awaited(self._client.delete_async(self._node))

    async def close(self) -> None:
        """Ends the session."""
        await asyncio.to_thread(self._threads.close)

    def _awaited(self, result: Any) -> asyncio.Future[Any]:
        future = self._loop.create_future()

        def settle() -> None:
            if result.exception is not None:
                future.set_exception(result.exception)
            else:
                future.set_result(result.value)

        result.rawlink(lambda _: self._loop.call_soon_threadsafe(settle))
        return future
