"""Acquires locks on command. usage: worker.py KIND URL LOCK"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from addresses import Address
from loops import serve, serve_async

if TYPE_CHECKING:
    from loops import AsyncLock
    from many import ManyAsyncLock

RECIPES = ("read", "write", "semaphore")
KINDS = (
    *("fencepost", "fencepost-given", "fencepost-asyncio", "raw", "raw-asyncio", "peer", "peer-asyncio"),
    *(f"{whose}-{recipe}" for whose in ("fencepost", "peer") for recipe in RECIPES),
    *("crowd-peer", "crowd-peer-read", "crowd-peer-write", "many-peer"),
    *(f"{whose}-operation{style}" for whose in ("fencepost", "raw") for style in ("", "-asyncio")),
    *(f"{whose}-{call}" for whose in ("fencepost", "peer") for call in ("first", "replay")),
    *(f"{whose}-endpoint-asyncio" for whose in ("bare", "fencepost", "peer")),
    *(f"many-{whose}-asyncio" for whose in ("fencepost", "raw", "peer")),
)


def main() -> None:
    """Serves the lock of this kind."""
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit(f"usage: worker.py {'|'.join(KINDS)} URL LOCK")
    kind, url, name = sys.argv[1:]
    address = Address(url)
    if kind.endswith("-asyncio"):
        asyncio.run(_serve_async(kind.removesuffix("-asyncio"), address, name))
    else:
        _serve(kind, address, name)


# Each kind imports only its own library, so that a raw client is measured without fencepost in its process.


def _serve(kind: str, address: Address, name: str) -> None:
    whose, _, what = kind.partition("-")
    if what == "operation":
        _serve_operations(whose, address, name)
    elif what in ("first", "replay"):
        from calls import KEPT, KEPT_LONG, fencepost_calls, powertools_calls

        calls = fencepost_calls if whose == "fencepost" else powertools_calls
        serve(calls(address, name, KEPT if what == "first" else KEPT_LONG))
    elif whose == "crowd":
        from crowd import Crowd, serve_crowd

        serve_crowd(Crowd(address, name, what.removeprefix("peer").removeprefix("-") or "mutex"))
    elif whose == "many":
        from many import serve_many
        from peers import KazooLock
        from raw_zookeeper import connected

        serve_many(KazooLock(connected(address), name), name)
    elif kind == "fencepost-given":
        from ours import OursGiven

        serve(OursGiven(address, name))
    elif whose == "fencepost":
        import fencepost
        from ours import Ours

        serve(Ours(fencepost.connect(address.url), name, what or "mutex"))
    elif whose == "peer":
        from peers import KazooLock, RedisPyLock
        from raw_zookeeper import connected

        serve(
            KazooLock(connected(address), name, what or "mutex")
            if address.is_zookeeper
            else RedisPyLock(address, name)
        )
    elif address.is_zookeeper:
        from raw_zookeeper import RawZooKeeper, connected

        serve(RawZooKeeper(connected(address), name))
    else:
        from raw_redis import RawRedis

        serve(RawRedis(address, name))


def _serve_operations(whose: str, address: Address, name: str) -> None:
    if whose == "fencepost":
        from operations import Operations

        serve(Operations(address, name))
    else:
        from raw_operations import RawRedisOperations, RawZooKeeperOperations

        serve((RawZooKeeperOperations if address.is_zookeeper else RawRedisOperations)(address, name))


async def _operations_async(whose: str, address: Address, name: str) -> AsyncLock:
    if whose == "fencepost":
        from operations import OperationsAsync

        return OperationsAsync(address, name)
    from raw_operations import RawRedisOperationsAsync, RawZooKeeperOperationsAsync

    if address.is_zookeeper:
        return RawZooKeeperOperationsAsync(address, name)
    return await RawRedisOperationsAsync(address, name).load()


async def _serve_async(kind: str, address: Address, name: str) -> None:
    if kind.endswith("-endpoint"):
        from endpoints import endpoint

        await serve_async(endpoint(kind.partition("-")[0], address, name))
        return
    if kind.endswith("-operation"):
        await serve_async(await _operations_async(kind.partition("-")[0], address, name))
        return
    whose = kind.removeprefix("many-")
    lock = await _lock_async(whose, address, name)
    if kind == whose:
        await serve_async(lock)
    else:
        from many import serve_many_async

        await serve_many_async(lock, name)


async def _lock_async(kind: str, address: Address, name: str) -> ManyAsyncLock:
    if kind == "fencepost":
        import fencepost.asyncio
        from ours import OursAsync

        return OursAsync(fencepost.asyncio.connect(address.url), name)
    if address.is_zookeeper:
        from raw_zookeeper import RawZooKeeperAsync, connected

        return RawZooKeeperAsync(connected(address), name)
    import redis.asyncio

    client = redis.asyncio.Redis(host=address.host, port=address.port)
    if kind == "peer":
        from peers import RedisPyLockAsync

        return RedisPyLockAsync(client, name)
    from raw_redis import RawRedisAsync

    return await RawRedisAsync(client, name).load()


if __name__ == "__main__":
    main()
