"""Servers of every version, and peers that end with their test."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from steer import CLASSES, Peer, Servers

sys.path.append(str(Path(__file__).resolve().parents[2] / "mixed"))

VERSIONS = ("3.8", "3.9")

Start = Callable[[str], Peer]


@pytest.fixture(scope="session", params=VERSIONS)
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    """A single ZooKeeper of each version."""
    servers = Servers("--zookeeper", "--zookeeper-version", request.param)
    yield servers
    servers.close()


@pytest.fixture
def start(servers: Servers) -> Iterator[Start]:
    """Starts peers by name: `curator` or `kazoo`."""
    if not (CLASSES / "Peer.class").exists():
        pytest.fail("the Curator peer was not built: make build-interop")
    running: list[Peer] = []

    def start(name: str) -> Peer:
        running.append(Peer(name, servers.zookeeper))
        return running[-1]

    yield start
    for peer in running:
        peer.close()


@pytest.fixture
def path() -> str:
    """A path that nobody else uses."""
    return f"/interop-{uuid.uuid4().hex[:12]}"
