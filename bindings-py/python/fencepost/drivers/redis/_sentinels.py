"""Queries the sentinels of the program's pool one after the other, each with a time limit. redis-py has no
limit by default, so one silent sentinel would block the queries to the others.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from redis.exceptions import ConnectionError as RedisConnectionError

_EACH_WITHIN = 0.9
"""How long a connection to one sentinel may take, and then its reply, in seconds."""


class Sentinels:
    """Replaces the program's pool in a connection, which gets the address of the master from it."""

    def __init__(self, pool: Any, retry: Any) -> None:
        self._pool = pool
        self._retry = retry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def get_master_address(self) -> Any:
        """The host and port."""
        error: Exception | None = None
        for sentinel, manager in self._each():
            try:
                address = manager.discover_master(self._pool.service_name)
            except RedisConnectionError as caught:
                error = caught
            else:
                self._prefer(sentinel)
                return address
            finally:
                manager.sentinels[0].connection_pool.disconnect()
        raise error or RedisConnectionError("the client has no sentinels")

    def _each(self) -> Iterator[tuple[Any, Any]]:
        """Each sentinel, with a manager that has only a copy of this sentinel."""
        for sentinel in list(self._pool.sentinel_manager.sentinels):
            manager = copy.copy(self._pool.sentinel_manager)
            manager.sentinels = [self._limited(sentinel)]
            yield sentinel, manager

    def _limited(self, sentinel: Any) -> Any:
        """A client of the same sentinel that sends one request, within the limit."""
        pool = sentinel.connection_pool
        settings = dict(pool.connection_kwargs)
        for name in ("retry_on_error", "retry_on_timeout"):
            settings.pop(name, None)
        for name in ("socket_timeout", "socket_connect_timeout"):
            settings[name] = min(settings.get(name) or _EACH_WITHIN, _EACH_WITHIN)
        settings["retry"] = self._retry
        return type(sentinel)(connection_pool=type(pool)(connection_class=pool.connection_class, **settings))

    def _prefer(self, sentinel: Any) -> None:
        """Moves a sentinel that has replied to the front, so that the next query begins with it."""
        known = self._pool.sentinel_manager.sentinels
        if sentinel in known:
            at = known.index(sentinel)
            known[0], known[at] = known[at], known[0]


class AsyncSentinels(Sentinels):
    """The same for redis-py's asyncio client."""

    async def get_master_address(self) -> Any:
        """The host and port."""
        error: Exception | None = None
        for sentinel, manager in self._each():
            try:
                address = await manager.discover_master(self._pool.service_name)
            except RedisConnectionError as caught:
                error = caught
            else:
                self._prefer(sentinel)
                return address
            finally:
                await manager.sentinels[0].connection_pool.disconnect()
        raise error or RedisConnectionError("the client has no sentinels")
