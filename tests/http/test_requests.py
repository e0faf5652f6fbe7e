"""The responses to sequential requests."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any

import httpx
import pytest
from operation import REPLAYED, STORED, Operation, assert_replays, is_problem
from servers import Server


def test_a_retry_gets_the_first_response(server: Server, operation: Operation) -> None:
    first = operation.post(server)
    assert first.status_code == 201
    assert first.json()["takeovers"] == 0
    assert_replays(first, operation.post(server))
    assert_replays(
        first, operation.post(server, headers=operation.headers(idempotency_key=f'"{operation.key}"'))
    )
    assert operation.runs == 1


def test_a_patch_is_covered_and_a_get_is_not(server: Server, operation: Operation) -> None:
    first = operation.post(server, method="PATCH")
    assert_replays(first, operation.post(server, method="PATCH"))
    for run in (2, 3):
        got = operation.post(server, b"", method="GET")
        assert (got.status_code, got.json()["run"], got.json()["takeovers"]) == (201, run, None)


def test_a_request_without_a_key_is_refused(server: Server, operation: Operation) -> None:
    assert is_problem(
        operation.post(server, headers=operation.headers(idempotency_key="")), 400, "key-missing"
    )
    assert operation.runs == 0


@pytest.mark.parametrize("key", ["a b", "a,b", '"a', '""', "a" * 256])
def test_a_malformed_key_is_refused(server: Server, operation: Operation, key: str) -> None:
    refused = operation.post(server, headers=operation.headers(idempotency_key=key))
    assert is_problem(refused, 400, "key-malformed")
    assert operation.runs == 0


def test_two_keys_are_malformed(server: Server, operation: Operation) -> None:
    headers = [*operation.headers().items(), ("Idempotency-Key", "another")]
    response = server.client.post(operation.target(), content=b"", headers=headers)
    assert is_problem(response, 400, "key-malformed")
    assert operation.runs == 0


def test_another_request_with_the_key_is_a_mismatch(server: Server, operation: Operation) -> None:
    first = operation.post(server)
    for other in (
        operation.post(server, b'{"cents": 1701}'),
        operation.post(server, extra=1),
        operation.post(server, path="/run/away"),
        operation.post(server, method="PATCH"),
    ):
        assert is_problem(other, 422, "mismatch")
    assert_replays(first, operation.post(server))
    assert operation.runs == 1


def test_tenants_have_keys_of_their_own(server: Server, operation: Operation) -> None:
    assert operation.post(server).json()["run"] == 1
    other = operation.post(server, headers=operation.headers(x_tenant=f"another-{operation.id}"))
    assert other.json()["run"] == 2
    assert REPLAYED not in other.headers


@pytest.mark.parametrize("status", [308, 401, 403, 408, 409, 425, 429, 500, 503])
def test_a_status_after_which_a_retry_runs(server: Server, operation: Operation, status: int) -> None:
    statuses = f"{status},201"
    failed = operation.post(server, statuses=statuses)
    assert failed.status_code == status
    assert STORED not in failed.headers
    done = operation.post(server, statuses=statuses)
    # A release makes the operation free. After 408 and 5xx the outcome is unknown, so the next attempt takes
    # over.
    assert (done.json()["run"], done.json()["takeovers"]) == (2, int(status == 408 or status >= 500))
    assert done.json()["derived"] == failed.json()["derived"]
    assert_replays(done, operation.post(server, statuses=statuses))
    assert operation.runs == 2


@pytest.mark.parametrize("status", [307, 308])
def test_a_client_that_follows_a_redirect_keeps_its_key(
    server: Server, operation: Operation, status: int
) -> None:
    statuses = f"{status},201"
    assert operation.post(server, path="/run/old", statuses=statuses).status_code == status
    done = operation.post(server, statuses=statuses)
    assert (done.status_code, done.json()["takeovers"]) == (201, 0)
    assert_replays(done, operation.post(server, statuses=statuses))


@pytest.mark.parametrize("status", [200, 202, 301, 302, 303, 400, 404, 422])
def test_a_status_that_is_replayed(server: Server, operation: Operation, status: int) -> None:
    first = operation.post(server, statuses=f"{status},500")
    assert first.status_code == status
    assert_replays(first, operation.post(server, statuses=f"{status},500"))
    assert operation.runs == 1


def test_an_exception_leaves_the_operation(server: Server, operation: Operation) -> None:
    assert operation.post(server, statuses="0,201").status_code == 500
    done = operation.post(server, statuses="0,201")
    assert (done.json()["run"], done.json()["takeovers"]) == (2, 1)


def test_an_empty_body_is_replayed(server: Server, operation: Operation) -> None:
    first = operation.post(server, b"", size=0)
    assert first.content == b""
    assert_replays(first, operation.post(server, b"", size=0))


def test_a_body_in_chunks_is_the_same_body(server: Server, operation: Operation) -> None:
    whole = bytes(range(256)) * 300
    first = operation.post(server, iter([whole[:1], whole[1:70_000], whole[70_000:]]))
    assert first.json()["length"] == len(whole)
    assert first.json()["sha256"] == hashlib.sha256(whole).hexdigest()
    assert_replays(first, operation.post(server, whole))
    assert is_problem(operation.post(server, iter([whole[1:]])), 422, "mismatch")


def test_a_body_that_is_too_large_is_refused(server: Server, operation: Operation) -> None:
    for body in (b"x" * 100_001, iter([b"x" * 50_000, b"x" * 50_001])):
        assert is_problem(operation.post(server, body), 413, "body-too-large")
    assert operation.runs == 0
    assert operation.post(server, b"x" * 100_000).json()["length"] == 100_000


def test_a_large_result_is_replayed(server: Server, operation: Operation) -> None:
    first = operation.post(server, size=200_000)
    assert len(first.content) == 200_000
    assert_replays(first, operation.post(server, size=200_000))


def test_a_body_that_is_cut_short_is_not_stored(server: Server, operation: Operation) -> None:
    """The handler fails midway. The client cannot get the whole response, and a retry no part of it."""
    query: dict[str, Any] = {"pieces": 2, "announced": "100,12"}
    with server.connect() as connection:
        connection.sendall(operation.raw(**query))
        response = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = response.partition(b"\r\n\r\n")
    assert not head.startswith(b"HTTP/1.1 201 ") or len(body) < 100
    done = operation.post(server, **query)
    assert (done.status_code, done.content, done.headers["x-run"]) == (201, b"piece\n" * 2, "2")
    assert_replays(done, operation.post(server, **query))
    assert operation.runs == 2


def test_a_body_that_is_longer_than_announced_is_not_stored(server: Server, operation: Operation) -> None:
    """The client gets only the announced length, so a retry must not get more either."""
    query: dict[str, Any] = {"pieces": 2, "announced": "4"}
    with suppress(httpx.TransportError):  # A server may refuse to send such a response.
        operation.post(server, **query)
    retry = operation.post(server, **query)
    assert (retry.status_code, retry.content) == (201, b"")
    assert (retry.headers[REPLAYED], retry.headers[STORED]) == ("true", "false")
    assert operation.runs == 1


@pytest.mark.parametrize(
    ("query", "body"), [({"size": 262_144}, b"x" * 262_144), ({"pieces": 3}, b"piece\n" * 3)]
)
def test_a_body_that_is_not_stored_passes_through(
    server: Server, operation: Operation, query: dict[str, Any], body: bytes
) -> None:
    first = operation.post(server, **query)
    assert (first.status_code, first.content) == (201, body)
    assert first.headers[STORED] == "false"
    assert first.headers["set-cookie"]
    retry = operation.post(server, **query)
    assert (retry.status_code, retry.content) == (201, b"")
    assert (retry.headers[REPLAYED], retry.headers[STORED]) == ("true", "false")
    assert "location" not in retry.headers
    assert operation.runs == 1
