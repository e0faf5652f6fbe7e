"""Form tokens."""

from __future__ import annotations

import re

from operation import Operation, assert_replays, is_problem
from servers import Server

FORM = "application/x-www-form-urlencoded"


def token(server: Server, operation: Operation) -> str:
    """A new token."""
    response = server.client.post("/tokens", headers={"X-Tenant": operation.tenant})
    assert (response.status_code, response.headers["cache-control"]) == (201, "no-store")
    assert list(response.json()) == ["token"]
    given: str = response.json()["token"]
    assert re.fullmatch(r"[\w-]{32}", given)
    return given


def form(token: str, cents: int = 1700) -> bytes:
    """The body of a form."""
    return f"cents={cents}&idempotency-token={token}".encode()


def test_a_form_that_is_sent_twice_runs_once(server: Server, operation: Operation) -> None:
    headers = operation.headers(idempotency_key="", content_type=FORM)
    body = form(token(server, operation))
    first = operation.post(server, body, headers=headers)
    assert (first.status_code, first.json()["length"]) == (201, len(body))
    assert_replays(first, operation.post(server, body, headers=headers))
    # Another tab has another token.
    assert operation.post(server, form(token(server, operation)), headers=headers).json()["run"] == 2
    assert operation.runs == 2


def test_a_script_sends_its_token_in_a_header(server: Server, operation: Operation) -> None:
    headers = operation.headers(idempotency_token=token(server, operation))
    first = operation.post(server, headers=headers)
    # The server ignores the key.
    assert_replays(first, operation.post(server, headers=headers | {"Idempotency-Key": "another"}))
    assert operation.runs == 1


def test_a_token_is_for_one_form_of_one_session(server: Server, operation: Operation) -> None:
    headers = operation.headers(idempotency_key="", content_type=FORM)
    given = token(server, operation)
    stolen = operation.post(server, form(given), headers=headers | {"X-Tenant": "another"})
    assert is_problem(stolen, 422, "mismatch")
    assert operation.post(server, form(given), headers=headers).status_code == 201
    assert is_problem(operation.post(server, form(given, cents=1), headers=headers), 422, "mismatch")
    for unknown in ("A" * 32, "a.b", ""):
        assert is_problem(operation.post(server, form(unknown), headers=headers), 422, "unknown-token")
    assert is_problem(operation.post(server, b"cents=1700", headers=headers), 400, "key-missing")
    assert operation.runs == 1


def test_a_token_that_failed_may_be_used_again(server: Server, operation: Operation) -> None:
    headers = operation.headers(idempotency_key="", content_type=FORM)
    body = form(token(server, operation))
    for status, run in ((429, 1), (201, 2)):
        response = operation.post(server, body, headers=headers, statuses="429,201")
        assert (response.status_code, response.json()["run"]) == (status, run)
