"""Takes locks on command. usage: worker.py KIND URL LOCK"""

from __future__ import annotations

import asyncio
import sys

from addresses import Address
from loops import serve, serve_async

RECIPES = ("read", "write", "semaphore")
KINDS = (
    *("fencepost", "fencepost-given", "fencepost-asyncio", "raw", "raw-asyncio", "peer", "peer-asyncio"),
    *(f"{whose}-{recipe}" for whose in ("fencepost", "peer") for recipe in RECIPES),
    *("crowd-peer", "crowd-peer-read", "crowd-peer-write"),
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


# Each kind imports its own library only: a raw client is measured without fencepost in its process.


def _serve(kind: str, address: Address, name: str) -> None:
    whose, _, what = kind.partition("-")
    if whose == "crowd":
        from crowd import Crowd, serve_crowd

        serve_crowd(Crowd(address, name, what.removeprefix("peer").removeprefix("-") or "mutex"))
    elif kind == "fencepost-given":
        from ours import OursGiven

        serve(OursGiven(address, name))
    elif whose == "fencepost":
        import fencepost
        from ours import Ours

        serve(Ours(fencepost.connect(address.url), name, what or "mutex"))
    elif whose == "peer":
        from peers import KazooLock, RedisPyLock

        serve(
            KazooLock(address, name, what or "mutex") if address.is_zookeeper else RedisPyLock(address, name)
        )
    elif address.is_zookeeper:
        from raw_zookeeper import RawZooKeeper

        serve(RawZooKeeper(address, name))
    else:
        from raw_redis import RawRedis

        serve(RawRedis(address, name))


async def _serve_async(kind: str, address: Address, name: str) -> None:
    if kind == "fencepost":
        import fencepost.asyncio
        from ours import OursAsync

        await serve_async(OursAsync(fencepost.asyncio.connect(address.url), name))
    elif kind == "peer":
        from peers import RedisPyLockAsync

        await serve_async(RedisPyLockAsync(address, name))
    elif address.is_zookeeper:
        from raw_zookeeper import RawZooKeeperAsync

        await serve_async(RawZooKeeperAsync(address, name))
    else:
        from raw_redis import RawRedisAsync

        await serve_async(await RawRedisAsync(address, name).load())


if __name__ == "__main__":
    main()
