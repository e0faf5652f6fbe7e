"""Fixtures: the servers that `python3 tests/servers run -- CMD` has started, and clients on them."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from servers import USUAL, started
from support import BACKENDS, Backend, Control, RedisBackend

SERVERS = "FENCEPOST_SERVERS"


def pytest_configure(config: pytest.Config) -> None:
    """A worker of pytest-xdist has its own servers, because tests stop and pause them."""
    if hasattr(config, "workerinput"):
        servers = ExitStack()
        config.add_cleanup(servers.close)
        os.environ.update(servers.enter_context(started(*USUAL)))


#: The files with the slowest tests. In a parallel run, they begin first.
LONGEST = ("test_versions.py", "test_packages.py", "test_kazoo_own.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    for item in items:
        names = getattr(item, "fixturenames", ())
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        on_server = (
            "zookeeper" in (parameters.get("backend"), parameters.get("place"))
            or parameters.get("backend") == "redis"
            or parameters.get("server") is not None
        )
        if on_server or {"control", "ensemble", "zookeeper", "redis_server"} & set(names):
            item.add_marker(pytest.mark.servers)
            if SERVERS not in os.environ:
                item.add_marker(pytest.mark.skip(reason="needs `python3 tests/servers run -- CMD`"))


@pytest.fixture
def control() -> Iterator[Control]:
    """The control port. After the test all servers run again, and all proxies are closed."""
    control = Control(os.environ[SERVERS])
    yield control
    control.restore()
    control.close()


@pytest.fixture
def ensemble() -> Iterator[tuple[str, Control]]:
    """The addresses of three ZooKeeper servers, and their control port."""
    with started("--ensemble") as addresses, closing(Control(addresses[SERVERS])) as control:
        yield addresses["FENCEPOST_ZOOKEEPER_ENSEMBLE"], control


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


@pytest.fixture
def user(redis_server: RedisBackend) -> Iterator[Any]:
    """Makes users with few rights, and returns the URL of each one."""
    names: list[str] = []
    execute: Any = redis_server.client.execute_command

    def user(*rights: str) -> str:
        names.append(f"u{uuid.uuid4().hex[:8]}")
        execute("ACL", "SETUSER", names[-1], "on", ">secret", "~*", "&*", *rights)
        return f"redis://{names[-1]}:secret@{redis_server.address}"

    yield user
    for name in names:
        execute("ACL", "DELUSER", name)


Connect = Callable[[str], fencepost.Client]
AsyncConnect = Callable[[str], fencepost.asyncio.Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connects, and closes at the end, even if the servers are down."""
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
