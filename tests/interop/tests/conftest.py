"""Servers of every version, and peers that end with their test."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from steer import CLASSES, RUST, Peer, Servers
from tree import Tree

sys.path += [str(Path(__file__).resolve().parents[2] / name) for name in ("mixed", "selection")]

from selection import VERSIONS, pytest_addoption, pytest_collection_modifyitems  # found only now

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]


class Start(Protocol):
    """Starts a peer by its name, with a session of so many milliseconds."""

    def __call__(self, name: str, session_ms: int = 10_000) -> Peer: ...


@pytest.fixture(scope="session", params=VERSIONS)
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    """A single ZooKeeper of each version."""
    servers = Servers("--zookeeper", "--zookeeper-version", request.param)
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def tree(servers: Servers) -> Iterator[Tree]:
    """What is on the server."""
    tree = Tree(servers.zookeeper)
    yield tree
    tree.close()


@pytest.fixture
def start(servers: Servers) -> Iterator[Start]:
    """Starts peers by name: `curator`, `kazoo`, or one of ours."""
    for built in (CLASSES / "Peer.class", RUST):
        if not built.exists():
            pytest.fail(f"{built} was not built: make build-interop")
    running: list[Peer] = []

    def start(name: str, session_ms: int = 10_000) -> Peer:
        running.append(Peer(name, servers.zookeeper, session_ms))
        return running[-1]

    yield start
    for peer in running:
        peer.close()


@pytest.fixture
def path() -> str:
    """A path that no other test uses."""
    return f"/interop-{uuid.uuid4().hex[:12]}"
