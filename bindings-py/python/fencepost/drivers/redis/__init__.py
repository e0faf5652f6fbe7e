"""The drivers for Redis, with redis-py: one for threads, one for asyncio."""

from __future__ import annotations

from ._asyncio_driver import AsyncRedisDriver
from ._driver import RedisDriver

__all__ = ["AsyncRedisDriver", "RedisDriver"]
