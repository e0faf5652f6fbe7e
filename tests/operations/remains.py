"""The nodes and keys on a server: the directories before the operations, and only the records afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import redis
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from peer import LIMIT
from worker import Server

#: The longest life of a tombstone, in ms.
TOMBSTONE = 10_000


def make_directories(server: Server) -> None:
    """Makes the directories of all records, so that every claim takes the same requests."""
    if server.family == "zookeeper":
        with _kazoo(server) as client:
            client.ensure_path(f"/fencepost/{server.scope}")
            made = [client.create_async(f"/fencepost/{server.scope}/{each:02x}") for each in range(256)]
            for each in made:
                each.get(LIMIT)


def remains(server: Server, keys: Iterable[str]) -> list[str]:
    """Leftovers of these operations, and missing records. Ignores the warm-up."""
    expected = set(keys)
    return _redis(server, expected) if server.family == "redis" else _zookeeper(server, expected)


def _redis(server: Server, expected: set[str]) -> list[str]:
    host, port = server.address.split(":")
    records = {f"fencepost:{{{server.scope}/{key}}}" for key in expected}
    with redis.Redis(host, int(port), decode_responses=True) as client:
        left = {key: client.pttl(key) for key in client.scan_iter(f"*{server.scope}*", 1000)}
    # -2: the key has expired in the meantime.
    found = [f"{key} lives for {life} ms" for key, life in left.items() if life > TOMBSTONE or life == -1]
    warm = f"fencepost:{{{server.scope}/warm-"
    found = [each for each in found if each.split()[0] not in records and not each.startswith(warm)]
    return found + sorted(records - left.keys())


def _zookeeper(server: Server, expected: set[str]) -> list[str]:
    found, scope = [], f"/fencepost/{server.scope}"
    with _kazoo(server) as client:
        for bucket in client.get_children(scope):
            for key in client.get_children(f"{scope}/{bucket}"):
                children = client.get_children(f"{scope}/{bucket}/{key}")
                found += [f"{key} has {child}" for child in children]
                if key not in expected and not key.startswith("warm-"):
                    found.append(key)
                expected.discard(key)
    return found + sorted(expected)


@contextmanager
def _kazoo(server: Server) -> Iterator[KazooClient]:
    client = KazooClient(server.address)
    client.start(LIMIT)
    try:
        yield client
    finally:
        client.stop()
        client.close()
