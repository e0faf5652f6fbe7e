"""Concurrent requests, clients that close the connection, and killed servers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from operation import REPLAYED, STORED, Operation, assert_replays, is_problem
from servers import LONG, Server


def test_a_double_click_runs_once(server: Server, operation: Operation) -> None:
    with ThreadPoolExecutor() as pool:
        first = pool.submit(operation.post, server, gate=1)
        operation.wait_until_run()
        second = operation.post(server, gate=1)
        assert is_problem(second, 409, "in-progress")
        assert 1 <= int(second.headers["retry-after"]) <= 30
        assert is_problem(operation.post(server, b"", gate=1), 422, "mismatch")
        operation.open_gate()
        assert first.result().status_code == 201
    assert_replays(first.result(), operation.post(server, gate=1))
    assert operation.runs == 1


def test_a_request_waits_for_the_running_one(waiting_server: Server, operation: Operation) -> None:
    with ThreadPoolExecutor() as pool:
        first = pool.submit(operation.post, waiting_server, gate=1)
        operation.wait_until_run()
        others = [pool.submit(operation.post, waiting_server, gate=1) for _ in range(3)]
        operation.open_gate()
        for other in others:
            assert_replays(first.result(), other.result())
    assert operation.runs == 1


def test_a_handler_survives_its_client(waiting_server: Server, operation: Operation) -> None:
    with waiting_server.connect() as connection:
        connection.sendall(operation.raw(gate=1))
        operation.wait_until_run()
    # When the server responds to another connection, it has seen the end of that one.
    assert waiting_server.client.get("/ready").status_code == 200
    operation.open_gate()
    retry = operation.post(waiting_server, gate=1)
    assert (retry.status_code, retry.json()["run"], retry.headers[REPLAYED]) == (201, 1, "true")
    assert operation.runs == 1


def test_a_stream_survives_its_client(waiting_server: Server, operation: Operation) -> None:
    query: dict[str, Any] = {"pieces": 3, "gate": 1}
    with waiting_server.connect() as connection:
        connection.sendall(operation.raw(**query))
        received = b""
        while received.count(b"piece\n") < 1:
            received += connection.recv(65536)
    assert waiting_server.client.get("/ready").status_code == 200
    operation.open_gate()
    retry = operation.post(waiting_server, **query)
    assert (retry.status_code, retry.content, retry.headers[STORED]) == (201, b"", "false")
    assert operation.runs == 1


def test_half_a_request_runs_nothing(server: Server, operation: Operation) -> None:
    with server.connect() as connection:
        connection.sendall(operation.raw(b'{"cents"', length=15))
    done = operation.post(server)
    assert (done.json()["run"], done.json()["takeovers"]) == (1, 0)
    assert REPLAYED not in done.headers


def test_the_end_of_a_stream_follows_its_completion(server: Server, operation: Operation) -> None:
    """When a client has the whole response, a retry already finds the operation completed."""
    for pieces in range(1, 20):
        each = Operation(operation._effects)
        each.post(server, pieces=pieces)
        assert each.post(server, pieces=pieces).headers[REPLAYED] == "true"


def test_a_killed_claimant_is_taken_over(
    start: Callable[..., Server], name: str, scope: str, operation: Operation
) -> None:
    doomed = start(name, scope=scope, lease=2)
    other = start(name, scope=scope, lease=2, wait=LONG)
    with ThreadPoolExecutor() as pool:
        lost = pool.submit(operation.post, doomed, gate=1)
        operation.wait_until_run()
        waiting = pool.submit(operation.post, other, gate=1)
        doomed.kill()
        assert lost.exception() is not None
        operation.wait_until_run(2)
        operation.open_gate()
        done = waiting.result()
    assert (done.status_code, done.json()["run"], done.json()["takeovers"]) == (201, 2, 1)
    assert_replays(done, operation.post(other, gate=1))


def test_a_killed_claimant_leaves_an_unknown_outcome(
    start: Callable[..., Server], name: str, scope: str, operation: Operation
) -> None:
    doomed = start(name, scope=scope, lease=2, on_lease_end="indeterminate")
    other = start(name, scope=scope, lease=2, wait=LONG)
    with ThreadPoolExecutor() as pool:
        lost = pool.submit(operation.post, doomed, gate=1)
        operation.wait_until_run()
        waiting = pool.submit(operation.post, other, gate=1)
        doomed.kill()
        assert lost.exception() is not None
        unknown = waiting.result()
    assert is_problem(unknown, 409, "indeterminate")
    assert "retry-after" not in unknown.headers
    assert operation.runs == 1


def test_a_server_that_stops_completes_what_runs(
    start: Callable[..., Server], name: str, scope: str, operation: Operation
) -> None:
    stopping = start(name, scope=scope)
    with stopping.connect() as connection:
        connection.sendall(operation.raw(gate=1))
        operation.wait_until_run()
    stopping.terminate()
    operation.open_gate()
    stopping.wait()
    other = start(name, scope=scope)
    assert operation.post(other, gate=1).headers[REPLAYED] == "true"
    assert operation.runs == 1
