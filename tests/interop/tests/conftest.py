"""Servers of every version, and peers that end with their test."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from pool import PeerPool
from steer import CLASSES, RUST, SESSION_MS, Peer, Servers
from tree import Tree
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler.loadscope import LoadScopeScheduling  # type: ignore[import-untyped]

sys.path += [str(Path(__file__).resolve().parents[2] / name) for name in ("mixed", "selection")]

from selection import VERSIONS, pytest_addoption, pytest_collection_modifyitems  # on the path only now

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]


#: These tests prepare servers of their own, which takes long: one process runs all tests of such a server.
PREPARED = ("test_numbers.py", "test_old_servers.py")


class ByServer(LoadScopeScheduling):  # type: ignore[misc]
    """Assigns a process the next test, or all tests of a prepared server."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if not file.endswith(PREPARED):
            return nodeid
        function, _, values = test.partition("[")
        version = values[:3]
        return f"{file} {version if version in VERSIONS else function}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServer:
    """Tells pytest-xdist how to distribute the tests."""
    return ByServer(config, log)


class Start(Protocol):
    """Starts a peer by its name, with this session timeout in milliseconds."""

    def __call__(self, name: str, session_ms: int = SESSION_MS) -> Peer: ...


@pytest.fixture(scope="session", params=VERSIONS)
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    """A single ZooKeeper of each version."""
    servers = Servers("--zookeeper", "--zookeeper-version", request.param)
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def tree(servers: Servers) -> Iterator[Tree]:
    """The nodes on the server."""
    tree = Tree(servers.zookeeper)
    yield tree
    tree.close()


@pytest.fixture(scope="session")
def peers(servers: Servers) -> Iterator[PeerPool]:
    """The peers on the server."""
    peers = PeerPool(servers.zookeeper)
    yield peers
    peers.close()


@pytest.fixture
def start(peers: PeerPool) -> Iterator[Start]:
    """Starts peers by name: `curator`, `kazoo`, or one of fencepost. Other tests use idle peers again."""
    for built in (CLASSES / "Peer.class", RUST):
        if not built.exists():
            pytest.fail(f"{built} was not built: make build-interop")
    used: list[Peer] = []

    def start(name: str, session_ms: int = SESSION_MS) -> Peer:
        used.append(peers.take(name, session_ms))
        return used[-1]

    yield start
    for peer in used:
        peers.give_back(peer)


@pytest.fixture
def path() -> str:
    """A path that no other test uses."""
    return f"/interop-{uuid.uuid4().hex[:12]}"
