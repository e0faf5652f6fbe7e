"""redis-py alone: fencepost's scripts by EVALSHA, with the arguments that fencepost passes."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from itertools import count
from pathlib import Path
from subprocess import check_output
from typing import Any

import redis
import redis.asyncio
from addresses import Address

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts.py"
LEASE = 10_000
KEEP_FENCE = 7 * 86_400_000
KEEP_TOMBSTONE = 10_000


@cache
def script(name: str) -> str:
    """The text of a script of fencepost."""
    return check_output([sys.executable, SCRIPTS, name], text=True)


def scripts() -> tuple[str, str]:
    """The scripts of acquire and release."""
    return script("Acquire"), script("Release")


class Calls:
    """The arguments of the EVALSHAs. Each acquire is a new attempt: a server rejects a released one."""

    def __init__(self, name: str) -> None:
        self._acquire, self._release = (hashlib.sha1(text.encode()).hexdigest() for text in scripts())
        self._name = name
        self._fence = f"{{{name}}}:fence"
        self._channel = f"{{{name}}}:released"
        self._contender = os.urandom(16).hex()
        self._numbers = count(1)
        self._attempt = self._tombstone = ""

    def acquire(self) -> tuple[Any, ...]:
        """The arguments of a new attempt."""
        self._attempt = f"{self._contender}-{next(self._numbers)}"
        self._tombstone = f"{{{self._name}}}:gone:{self._attempt}"
        keys = (self._name, self._fence, self._tombstone)
        return (self._acquire, 3, *keys, self._attempt, LEASE, KEEP_FENCE, KEEP_TOMBSTONE)

    def release(self) -> tuple[Any, ...]:
        """The arguments of the attempt that holds the lock."""
        keys = (self._name, self._tombstone)
        return (self._release, 2, *keys, self._attempt, self._channel, KEEP_TOMBSTONE)


def check(granted: Any, what: str) -> None:
    """A cycle that fails must not count as a fast one."""
    if granted[0] != 1:
        raise RuntimeError(f"{what} answered {granted}")


class RawRedis:
    """For threads."""

    def __init__(self, address: Address, name: str) -> None:
        self._client = redis.Redis(address.host, address.port)
        for text in scripts():
            self._client.script_load(text)
        self._calls = Calls(name)

    def acquire(self) -> None:
        """One script."""
        check(self._client.evalsha(*self._calls.acquire()), "acquire.lua")

    def release(self) -> None:
        """One script."""
        check(self._client.evalsha(*self._calls.release()), "release.lua")

    def close(self) -> None:
        """Hangs up."""
        self._client.close()


class RawRedisAsync:
    """For asyncio."""

    def __init__(self, client: redis.asyncio.Redis, name: str) -> None:
        self._client = client
        self._calls = Calls(name)

    def another(self, name: str) -> RawRedisAsync:
        """Returns another lock on the same client."""
        return RawRedisAsync(self._client, name)

    async def load(self) -> RawRedisAsync:
        """Loads the scripts into the server."""
        for text in scripts():
            await self._client.script_load(text)
        return self

    async def acquire(self) -> None:
        """One script."""
        granted: Any = await self._client.evalsha(*self._calls.acquire())
        check(granted, "acquire.lua")

    async def release(self) -> None:
        """One script."""
        released: Any = await self._client.evalsha(*self._calls.release())
        check(released, "release.lua")

    async def close(self) -> None:
        """Hangs up."""
        await self._client.aclose()
