"""Servers of each program, with the settings that the scenarios need."""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from operation import Operation
from servers import LONG, SERVERS, Server


class Control:
    """The control port of the test servers."""

    def __init__(self) -> None:
        host, port = os.environ["FENCEPOST_SERVERS"].split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=LONG)
        self._lines = self._socket.makefile("r")

    def do(self, command: str) -> dict[str, Any]:
        """Sends a command, and returns the reply."""
        self._socket.sendall(command.encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._lines.readline())
        assert answer["ok"], answer
        return answer

    def close(self) -> None:
        """Ends the connection."""
        self._lines.close()
        self._socket.close()


class Store:
    """The store, through a proxy that can cut it off."""

    def __init__(self, control: Control) -> None:
        self._control = control
        proxy = control.do("proxy redis-1")
        self._id = proxy["id"]
        self.address: str = proxy["address"]

    def go_away(self) -> None:
        """Ends all connections, and accepts no new ones."""
        self._control.do(f"proxy-cut {self._id}")

    def come_back(self) -> None:
        """Accepts connections again."""
        self._control.do(f"proxy-heal {self._id}")

    def close(self) -> None:
        """Ends the proxy."""
        self._control.do(f"proxy-close {self._id}")


@pytest.fixture(scope="session")
def control() -> Iterator[Control]:
    if "FENCEPOST_REDIS_2" not in os.environ:
        pytest.fail("run this by `python3 tests/servers run --redis 2 -- pytest tests/http`")
    control = Control()
    yield control
    control.close()


@pytest.fixture(scope="session")
def effects() -> Iterator[redis.Redis]:
    """The server with the handlers' traces."""
    with redis.Redis.from_url(f"redis://{os.environ['FENCEPOST_REDIS_2']}") as effects:
        yield effects


@pytest.fixture(scope="session", params=SERVERS)
def name(request: pytest.FixtureRequest) -> str:
    """Each server program in turn."""
    given: str = request.param
    return given


@pytest.fixture(scope="session")
def scope() -> str:
    """The scope of the client, which all servers share."""
    return f"shop-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    """Starts a server for one test."""
    running: list[Server] = []

    def start(name: str, **options: object) -> Server:
        address = options.pop("store", os.environ["FENCEPOST_REDIS"])
        server = Server(name, str(address), os.environ["FENCEPOST_REDIS_2"], **options)
        running.append(server)
        return server

    yield start
    for server in running:
        server.close()


def serving(name: str, store: str, **options: object) -> Iterator[Server]:
    server = Server(name, store, os.environ["FENCEPOST_REDIS_2"], **options)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server(control: Control, name: str, scope: str) -> Iterator[Server]:
    """A server whose requests do not wait for each other. A body may have 100,000 bytes."""
    yield from serving(name, os.environ["FENCEPOST_REDIS"], scope=scope, max_body=100_000)


@pytest.fixture(scope="session")
def waiting_server(control: Control, name: str, scope: str) -> Iterator[Server]:
    """A server whose requests wait for each other."""
    yield from serving(name, os.environ["FENCEPOST_REDIS"], scope=scope, wait=LONG)


@pytest.fixture
def store(control: Control) -> Iterator[Store]:
    """A store that can become unreachable."""
    store = Store(control)
    yield store
    store.close()


@pytest.fixture
def operation(effects: redis.Redis) -> Operation:
    """An operation that no other test uses."""
    return Operation(effects)
