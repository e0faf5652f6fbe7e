"""redis-py alone: our own scripts by EVALSHA, with the arguments that fencepost gives them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import redis
import redis.asyncio
from addresses import Address

SCRIPTS = Path(__file__).resolve().parents[2] / "core" / "src" / "redis" / "scripts"
ATTEMPT = "0" * 32 + "-1"
LEASE = 10_000
KEEP_FENCE = 7 * 86_400_000


def scripts() -> tuple[str, str]:
    """The texts of acquire and release."""
    return (SCRIPTS / "acquire.lua").read_text(), (SCRIPTS / "release.lua").read_text()


def calls(name: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments of both EVALSHAs."""
    acquire, release = (hashlib.sha1(text.encode()).hexdigest() for text in scripts())
    tombstone = f"{{{name}}}:gone:{ATTEMPT}"
    return (
        (acquire, 3, name, f"{{{name}}}:fence", tombstone, ATTEMPT, LEASE, KEEP_FENCE),
        (release, 2, name, tombstone, ATTEMPT, f"{{{name}}}:released", 0),
    )


def check(granted: Any, what: str) -> None:
    """A cycle that does nothing would be quick."""
    if granted[0] != 1:
        raise RuntimeError(f"{what} answered {granted}")


class RawRedis:
    """For threads."""

    def __init__(self, address: Address, name: str) -> None:
        self._client = redis.Redis(address.host, address.port)
        for text in scripts():
            self._client.script_load(text)
        self._acquire, self._release = calls(name)

    def acquire(self) -> None:
        """One script."""
        check(self._client.evalsha(*self._acquire), "acquire.lua")

    def release(self) -> None:
        """One script."""
        check(self._client.evalsha(*self._release), "release.lua")

    def close(self) -> None:
        """Hangs up."""
        self._client.close()


class RawRedisAsync:
    """For asyncio."""

    def __init__(self, address: Address, name: str) -> None:
        self._client = redis.asyncio.Redis(host=address.host, port=address.port)
        self._acquire, self._release = calls(name)

    async def load(self) -> RawRedisAsync:
        """Gives the server the scripts."""
        for text in scripts():
            await self._client.script_load(text)
        return self

    async def acquire(self) -> None:
        """One script."""
        granted: Any = await self._client.evalsha(*self._acquire)
        check(granted, "acquire.lua")

    async def release(self) -> None:
        """One script."""
        released: Any = await self._client.evalsha(*self._release)
        check(released, "release.lua")

    async def close(self) -> None:
        """Hangs up."""
        await self._client.aclose()
