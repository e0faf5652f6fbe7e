"""The client libraries alone, with the requests of a claim and a completion. Names and data are as long."""

from __future__ import annotations

import asyncio
import hashlib
import os
from itertools import count
from typing import Any

import redis
import redis.asyncio
from addresses import Address
from raw_redis import script
from raw_zookeeper import RawZooKeeperAsync, connected

# The values of operations.py, which this file cannot import because it imports fencepost.
FINGERPRINT, TAG, RESULT, KEPT = "0123456789abcdef0123456789abcdef", "bytes", b"r" * 1024, 10_000
KEEP_TOMBSTONE = 10_000


def scripts() -> tuple[str, str]:
    """The scripts of claim and complete."""
    return script("Claim"), script("Complete")


class Calls:
    """The arguments of the EVALSHAs. Each acquire claims a new key."""

    def __init__(self, scope: str) -> None:
        self._claim, self._complete = (hashlib.sha1(text.encode()).hexdigest() for text in scripts())
        self._scope = scope
        self._numbers = count(1)
        self._key = self._attempt = self._tombstone = ""

    def acquire(self) -> tuple[Any, ...]:
        """The arguments of a claim."""
        number = next(self._numbers)
        self._key = f"fencepost:{{{self._scope}/key-{os.getpid()}-{number}}}"
        self._attempt = f"{os.getpid():016x}{number:016x}-1"
        self._tombstone = f"{self._key}:gone:{self._attempt}"
        values = (self._attempt, KEEP_TOMBSTONE, 0, "", FINGERPRINT, "", KEPT, KEPT)
        return (self._claim, 2, self._key, self._tombstone, *values)

    def release(self) -> tuple[Any, ...]:
        """The arguments of its completion."""
        values = (self._attempt, KEEP_TOMBSTONE, TAG, RESULT, f"{self._key}:ended")
        return (self._complete, 2, self._key, self._tombstone, *values)


def check(answer: Any, wanted: bytes) -> None:
    """A cycle that fails must not count as a fast one."""
    if not answer.startswith(wanted):
        raise RuntimeError(f"a script answered {answer}")


class RawRedisOperations:
    """For threads."""

    def __init__(self, address: Address, scope: str) -> None:
        self._client = redis.Redis(address.host, address.port)
        for text in scripts():
            self._client.script_load(text)
        self._calls = Calls(scope)

    def acquire(self) -> None:
        """Claims."""
        check(self._client.evalsha(*self._calls.acquire()), b"claimed")

    def release(self) -> None:
        """Completes."""
        check(self._client.evalsha(*self._calls.release()), b"completed")

    def close(self) -> None:
        """Hangs up."""
        self._client.close()


class RawRedisOperationsAsync:
    """For asyncio."""

    def __init__(self, address: Address, scope: str) -> None:
        self._client = redis.asyncio.Redis(host=address.host, port=address.port)
        self._calls = Calls(scope)

    async def load(self) -> RawRedisOperationsAsync:
        """Loads the scripts into the server."""
        for text in scripts():
            await self._client.script_load(text)
        return self

    async def acquire(self) -> None:
        """Claims."""
        answer: Any = await self._client.evalsha(*self._calls.acquire())
        check(answer, b"claimed")

    async def release(self) -> None:
        """Completes."""
        answer: Any = await self._client.evalsha(*self._calls.release())
        check(answer, b"completed")

    async def close(self) -> None:
        """Hangs up."""
        await self._client.aclose()


class Nodes:
    """The nodes of a claim, and their data. The directories exist: the benchmark makes them."""

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._numbers = count(1)
        self._attempt = self.record = self.lease = ""

    def take_next(self) -> None:
        """Prepares the nodes of a new key."""
        number = next(self._numbers)
        self._attempt = f"{os.getpid():016x}{number:016x}-1"
        self.record = f"/fencepost/{self._scope}/{number % 256:02x}/key-{os.getpid()}-{number}"
        self.lease = f"{self.record}/{self._attempt}"

    def data(self, state: str, fence: str = "") -> bytes:
        """The data of the record, without a result."""
        return (
            f"fencepost-record:1\nstate:{len(state)}:{state}\nattempt:{len(self._attempt)}:{self._attempt}\n{fence}"
            f"fingerprint:{len(FINGERPRINT)}:{FINGERPRINT}\nretention:5:{KEPT}\n"
        ).encode()

    def completed(self, fence: int) -> bytes:
        """The data of the record with its result."""
        data = self.data("done", f"fence:{len(str(fence))}:{fence}\n")
        return data + f"tag:{len(TAG)}:{TAG}\nresult:{len(RESULT)}:".encode() + RESULT + b"\n"


class RawZooKeeperOperations:
    """For threads."""

    def __init__(self, address: Address, scope: str) -> None:
        self._client = connected(address)
        self._nodes = Nodes(scope)
        self._fence = 0

    def acquire(self) -> None:
        """Claims."""
        committed, read = self.claim()
        committed.get()
        self._fence = read.get()[1].czxid

    def release(self) -> None:
        """Completes."""
        self.complete(self._fence).get()

    def claim(self) -> tuple[Any, Any]:
        """Sends both requests of a claim."""
        nodes = self._nodes
        nodes.take_next()
        transaction = self._client.transaction()
        transaction.create(nodes.record, nodes.data("running"))
        transaction.create(nodes.lease, b"", ephemeral=True)
        return transaction.commit_async(), self._client.get_async(nodes.lease)

    def complete(self, fence: int) -> Any:
        """Sends the completion."""
        transaction = self._client.transaction()
        transaction.delete(self._nodes.lease)
        transaction.set_data(self._nodes.record, self._nodes.completed(fence), version=0)
        return transaction.commit_async()

    def close(self) -> None:
        """Ends the session."""
        self._client.stop()
        self._client.close()


class RawZooKeeperOperationsAsync:
    """For asyncio: the same requests, each awaited as a future that kazoo's thread completes."""

    def __init__(self, address: Address, scope: str) -> None:
        self._threads = RawZooKeeperOperations(address, scope)
        self._awaited = RawZooKeeperAsync(self._threads._client, scope)._awaited
        self._fence = 0

    async def acquire(self) -> None:
        """Claims."""
        committed, read = map(self._awaited, self._threads.claim())
        await committed
        self._fence = (await read)[1].czxid

    async def release(self) -> None:
        """Completes."""
        await self._awaited(self._threads.complete(self._fence))

    async def close(self) -> None:
        """Ends the session."""
        await asyncio.to_thread(self._threads.close)
