"""The ordinary clients that the tests use: kazoo and redis-py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support import LONG

kazoo_client = pytest.importorskip("kazoo.client")
kazoo_exceptions = pytest.importorskip("kazoo.exceptions")
redis = pytest.importorskip("redis")
pytest.importorskip("redis.retry")


@contextmanager
def kazoo(hosts: str) -> Iterator[Any]:
    """A connected kazoo client."""
    client = kazoo_client.KazooClient(hosts=hosts, timeout=10)
    client.start(LONG)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def redis_at(address: str, **options: Any) -> Any:
    """A redis-py client that does not retry."""
    host, port = address.split(":")
    retry = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
    return redis.Redis(host, int(port), retry=retry, **options)
