"""A free lock on a session that the application has made: the client grants it late if necessary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import fencepost
import pytest
from fencepost.compat.kazoo import Lock
from kazoo.client import KazooClient
from support import ZooKeeperBackend


@contextmanager
def connected(zookeeper: ZooKeeperBackend, session: float) -> Iterator[Any]:
    """A KazooClient that was connected before fencepost used it."""
    client = KazooClient(hosts=zookeeper.address, timeout=session)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


# The proof takes a quarter of the session timeout. That is longer than a try waits for replies, and than the
# acquire timeout.
@pytest.mark.parametrize(
    ("session", "acquire_timeout"),
    [(24.0, {"blocking": False}), (12.0, {"timeout": 2.0})],
    ids=["try", "timeout"],
)
def test_kazoos_classes_take_a_free_lock(
    zookeeper: ZooKeeperBackend, session: float, acquire_timeout: dict[str, Any]
) -> None:
    with connected(zookeeper, session) as client:
        lock = Lock(client, f"/{zookeeper.prefix}/free")
        assert lock.acquire(**acquire_timeout) is True
        lock.release()


def test_a_client_takes_a_free_lock(zookeeper: ZooKeeperBackend) -> None:
    with (
        connected(zookeeper, 12.0) as kazoo,
        closing(fencepost.Client(kazoo, prefix=zookeeper.prefix)) as client,
    ):
        grant = client.lock("free").acquire(timeout=2.0)
        assert grant is not None
        assert grant.is_valid
        grant.release()
