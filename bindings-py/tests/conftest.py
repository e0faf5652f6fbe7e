"""Fixtures: the servers that `python3 tests/servers run -- CMD` has started, and clients on them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from support import BACKENDS, Backend, Control

SERVERS = "FENCEPOST_SERVERS"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = getattr(item, "fixturenames", ())
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        on_server = (
            "zookeeper" in (parameters.get("backend"), parameters.get("place"))
            or parameters.get("backend") == "redis"
            or parameters.get("server") is not None
        )
        if on_server or {"control", "zookeeper", "redis_server"} & set(names):
            item.add_marker(pytest.mark.servers)
            if SERVERS not in os.environ:
                item.add_marker(pytest.mark.skip(reason="needs `python3 tests/servers run -- CMD`"))


@pytest.fixture
def control() -> Iterator[Control]:
    """The control port. After the test all servers run again, and all proxies are gone."""
    control = Control(os.environ[SERVERS])
    yield control
    control.restore()
    control.close()


def make(kind: str) -> Iterator[Backend]:
    made = BACKENDS[kind]()
    yield made
    made.clean()


@pytest.fixture(params=["memory", "zookeeper", "redis"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each kind of server in turn."""
    yield from make(request.param)


@pytest.fixture(params=["zookeeper", "redis"])
def server(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each kind of real server in turn."""
    yield from make(request.param)


@pytest.fixture
def zookeeper() -> Iterator[Backend]:
    yield from make("zookeeper")


@pytest.fixture
def redis_server() -> Iterator[Backend]:
    yield from make("redis")


Connect = Callable[[str], fencepost.Client]
AsyncConnect = Callable[[str], fencepost.asyncio.Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connects, and closes at the end, whatever has become of the servers."""
    clients: list[fencepost.Client] = []

    def connect(url: str) -> fencepost.Client:
        clients.append(fencepost.connect(url))
        return clients[-1]

    yield connect
    for client in clients:
        try:
            client.close()
        except fencepost.CleanupIncomplete:
            pass


@pytest_asyncio.fixture
async def aconnect() -> AsyncIterator[AsyncConnect]:
    """The same for asyncio."""
    clients: list[fencepost.asyncio.Client] = []

    def connect(url: str) -> fencepost.asyncio.Client:
        clients.append(fencepost.asyncio.connect(url))
        return clients[-1]

    yield connect
    for client in clients:
        try:
            await client.close()
        except fencepost.CleanupIncomplete:
            pass
