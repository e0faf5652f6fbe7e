"""The locks of kazoo and redis-py, with their defaults."""

from __future__ import annotations

import redis
import redis.asyncio
from addresses import Address
from kazoo.client import KazooClient

LEASE = 10.0
#: kazoo's names for the kinds of locks.
RECIPES = {"mutex": "Lock", "read": "ReadLock", "write": "WriteLock", "semaphore": "Semaphore"}


class KazooLock:
    """One of kazoo's locks. A semaphore has one lease."""

    def __init__(self, client: KazooClient, name: str, kind: str = "mutex") -> None:
        self._client = client
        self._lock = getattr(client, RECIPES[kind])(f"/{name}", "bench")

    def another(self, name: str) -> KazooLock:
        """A mutex on the same client."""
        return KazooLock(self._client, name)

    def acquire(self) -> None:
        """Waits for it."""
        if not self._lock.acquire():
            raise RuntimeError("kazoo's Lock was not acquired")

    def release(self) -> None:
        """Gives it back."""
        self._lock.release()

    def close(self) -> None:
        """Ends the session."""
        self._client.stop()
        self._client.close()


class RedisPyLock:
    """redis-py's Lock: a waiter polls every 0.1 s."""

    def __init__(self, address: Address, name: str) -> None:
        self._client = redis.Redis(address.host, address.port)
        self._lock = self._client.lock(name, timeout=LEASE)

    def acquire(self) -> None:
        """Waits for it."""
        if not self._lock.acquire():
            raise RuntimeError("redis-py's Lock was not acquired")

    def release(self) -> None:
        """Gives it back."""
        self._lock.release()

    def close(self) -> None:
        """Hangs up."""
        self._client.close()


class RedisPyLockAsync:
    """redis-py's Lock for asyncio."""

    def __init__(self, client: redis.asyncio.Redis, name: str) -> None:
        self._client = client
        self._lock = client.lock(name, timeout=LEASE)

    def another(self, name: str) -> RedisPyLockAsync:
        """Another lock on the same client."""
        return RedisPyLockAsync(self._client, name)

    async def acquire(self) -> None:
        """Waits for it."""
        if not await self._lock.acquire():
            raise RuntimeError("redis-py's Lock was not acquired")

    async def release(self) -> None:
        """Gives it back."""
        await self._lock.release()

    async def close(self) -> None:
        """Hangs up."""
        await self._client.aclose()
