"""A store that cannot be reached."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from conftest import Store
from operation import REPLAYED, STORED, Operation, assert_replays, is_problem
from servers import Server, wait_until

#: How long a claim waits for the store, in seconds.
BRIEF = 0.5


def wait_for_store(server: Server, operation: Operation) -> None:
    """Waits until the server has a connection to its store. A busy machine may need longer than BRIEF."""

    def stores() -> bool:
        response = Operation(operation._effects).post(server)
        return response.status_code == 201 and STORED not in response.headers

    wait_until(stores, "the server reaches its store")


def test_without_its_store_a_server_runs_nothing(
    start: Callable[..., Server], name: str, scope: str, store: Store, operation: Operation
) -> None:
    server = start(name, scope=scope, store=store.address, answer_within=BRIEF)
    wait_for_store(server, operation)
    assert operation.post(server).status_code == 201
    other = Operation(operation._effects)
    store.go_away()
    assert is_problem(other.post(server), 503, "store-unavailable")
    assert is_problem(server.client.post("/tokens", headers=other.headers()), 503, "store-unavailable")
    assert other.runs == 0
    # The response does not contain the reason; the log does.
    for what in ("a request was refused", "no token was issued"):
        assert f"{what}: " in server.log()
    # The middleware still passes on requests that it does not cover.
    assert other.post(server, b"", method="GET").status_code == 201
    store.come_back()
    wait_for_store(server, operation)
    assert operation.post(server).headers[REPLAYED] == "true"
    assert_replays(other.post(server), other.post(server))


def test_fail_open_runs_without_protection(
    start: Callable[..., Server], name: str, scope: str, store: Store, operation: Operation
) -> None:
    server = start(name, scope=scope, store=store.address, answer_within=BRIEF, fail_open=True)
    wait_for_store(server, operation)
    assert STORED not in operation.post(server).headers
    other = Operation(operation._effects)
    store.go_away()
    for run in (1, 2):
        response = other.post(server)
        assert (response.status_code, response.json()["run"]) == (201, run)
        assert (response.json()["takeovers"], response.headers[STORED]) == (None, "false")
    assert "the handler runs without a claim: " in server.log()
    store.come_back()
    wait_for_store(server, operation)
    assert other.post(server).json()["run"] == 3
    assert operation.post(server).headers[REPLAYED] == "true"


def test_a_result_that_cannot_be_stored_goes_out_marked(
    start: Callable[..., Server], name: str, scope: str, store: Store, operation: Operation
) -> None:
    server = start(name, scope=scope, store=store.address, answer_within=BRIEF, lease=2)
    wait_for_store(server, operation)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(operation.post, server, gate=1)
        operation.wait_until_run()
        store.go_away()
        operation.open_gate()
        response = first.result()
    assert (response.status_code, response.json()["run"]) == (201, 1)
    assert response.headers[STORED] == "false"
    assert "a response was not stored: " in server.log()
    store.come_back()
