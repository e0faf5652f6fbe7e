"""Two servers behind one gateway: each replays the responses of the other, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import permutations

import httpx
import pytest
from operation import REPLAYED, Operation, assert_replays, is_problem
from servers import SERVERS, Server

#: Paths that a server may decode, normalise or leave unchanged.
PATHS = ("/run", "/run/%7Euser/a%20b", "/run/%C3%BC/100%25", "/run/a+b;c=1,2")
QUERIES = ("", "&a=%20+&b=%2F/", "&b=1&a=2&a", "&\"'=%FF")
BODIES = (b"", bytes(range(256)), b'{"cents": 1700}\n')


@pytest.fixture(scope="module")
def fleet(scope: str) -> Iterator[dict[str, Server]]:
    """A server of each program."""
    store, effects = os.environ["FENCEPOST_REDIS"], os.environ["FENCEPOST_REDIS_2"]
    running: dict[str, Server] = {}
    try:
        for name in SERVERS:
            running[name] = Server(name, store, effects, scope=scope)
        yield running
    finally:
        for server in running.values():
            server.stop()


def send(server: Server, operation: Operation, path: str, query: str, body: bytes) -> httpx.Response:
    """Sends the target unchanged."""
    target = f"{path}?id={operation.id}{query}".encode()
    url = httpx.URL(f"http://127.0.0.1:{server.port}")
    request = httpx.Request("POST", url, content=body, headers=operation.headers())
    request.extensions["target"] = target
    return server.client.send(request)


@pytest.mark.parametrize(("first", "second"), list(permutations(SERVERS, 2)))
def test_a_pair(fleet: dict[str, Server], operation: Operation, first: str, second: str) -> None:
    one, other = fleet[first], fleet[second]
    for path, query, body in zip(PATHS, QUERIES, (*BODIES, b"x"), strict=True):
        each = Operation(operation._effects)
        if "axum" in (first, second):
            query = query.replace('"', "")  # hyper rejects a request line that contains it
        done = send(one, each, path, query, body)
        assert done.status_code == 201, done.text
        retry = send(other, each, path, query, body)
        assert_replays(done, retry)
        again = send(one, each, path, query, body)
        assert (again.content, stored(again)) == (retry.content, stored(retry))
        assert is_problem(send(other, each, path, query, body + b"x"), 422, "mismatch")
        assert each.runs == 1


def test_a_change_of_the_secret(scope: str, operation: Operation) -> None:
    """The new secret is first only accepted, then the current one, and finally the only one."""
    store, effects = os.environ["FENCEPOST_REDIS"], os.environ["FENCEPOST_REDIS_2"]
    old, new = "an old secret of the suite", "a new secret of the suite"
    steps = {"starlette": [old, new], "express": [new, old], "axum": [new]}
    with ExitStack() as stack:
        fleet: list[Server] = []
        for name, secret in steps.items():
            fleet.append(Server(name, store, effects, scope=scope, secret=secret))
            stack.callback(fleet[-1].stop)
        one, two, three = fleet
        assert_replays(operation.post(one), operation.post(two))
        assert is_problem(operation.post(two, b"{}"), 422, "mismatch")
        assert is_problem(operation.post(three), 422, "mismatch")
        assert operation.runs == 1
        later = Operation(operation._effects)
        first = later.post(two)
        assert_replays(first, later.post(one))
        assert_replays(first, later.post(three))
        assert later.runs == 1


def stored(response: httpx.Response) -> list[tuple[bytes, bytes]]:
    """The stored headers of a replay, without those that a server adds. Some frameworks sort them by name."""
    added = {b"date", b"server", b"connection", b"keep-alive", b"transfer-encoding"}
    headers = [(name.lower(), value) for name, value in response.headers.raw]
    return sorted((name, value) for name, value in headers if name not in added)


def test_problems_are_the_same_bytes(fleet: dict[str, Server], operation: Operation) -> None:
    refused = [operation.post(server, headers={"X-Tenant": "a"}) for server in fleet.values()]
    assert len({(each.content, tuple(stored(each))) for each in refused}) == 1
    assert REPLAYED not in refused[0].headers
