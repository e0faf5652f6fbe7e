"""The driver for redis-py's asyncio client."""

from __future__ import annotations

from .redis import AsyncRedisDriver

__all__ = ["AsyncRedisDriver"]
