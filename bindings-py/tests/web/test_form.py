"""The examples of the HTTP format that all languages read, ``tests/http.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fencepost.web import _answers as answers
from fencepost.web import _form as form
from fencepost.web._response import BaseProtected

EXAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "tests" / "http.json").read_text(encoding="utf-8")
)


def each(name: str) -> pytest.MarkDecorator:
    """A test for each example of a list."""
    return pytest.mark.parametrize("example", EXAMPLES[name])


def raw(text: str) -> bytes:
    """Each character is one byte."""
    return text.encode("latin-1")


def headers(listed: list[list[str]]) -> form.Headers:
    return [(raw(name), raw(value)) for name, value in listed]


@each("keys")
def test_a_key_is_quoted_or_bare(example: Any) -> None:
    assert form.key_of([raw(line) for line in example["lines"]]) == example["key"]


@each("record_keys")
def test_the_key_of_a_record(example: Any) -> None:
    assert form.record_key(example["tenant"], example["key"]) == example["record_key"]


@each("routes")
def test_the_route_is_the_decoded_path(example: Any) -> None:
    assert form.route_of(raw(example["path"])) == raw(example["route"])


@each("fingerprints")
def test_the_fingerprint(example: Any) -> None:
    fields = (raw(example[name]) for name in ("secret", "method", "route", "query", "body"))
    assert form.fingerprint(*fields).hex() == example["fingerprint"]


@each("responses")
def test_what_is_stored_of_a_response(example: Any) -> None:
    names = form.STORED_HEADERS | {raw(name).lower() for name in example.get("stored_headers", ())}
    response = BaseProtected(b"POST", lambda _: "complete", names, example.get("max_result", 1_000_000))
    response._begin(example["status"], headers(example["headers"]))
    result, is_whole = response._result(raw(example["body"]))
    assert result == raw(example["stored"])
    assert is_whole == (b"status-only" not in result)
    assert form.Stored.decode(result).encode() == result


@each("replays")
def test_a_replay(example: Any) -> None:
    stored = form.Stored.decode(raw(example["stored"]))
    assert stored.encode() == raw(example["stored"])
    assert (stored.status, stored.replay(b"POST"), stored.body or b"") == (
        example["status"],
        headers(example["headers"]),
        raw(example["body"]),
    )


@each("corrupt")
def test_what_is_no_stored_response(example: Any) -> None:
    with pytest.raises(ValueError, match=r"first line|header|follows"):
        form.Stored.decode(raw(example))


@each("ends")
def test_what_a_status_means(example: Any) -> None:
    ends = {int(status): end for status, end in example.get("ends", {}).items()}
    assert answers.end_of(example["status"], ends) == example["end"]


@each("retry_after")
def test_when_to_try_again(example: Any) -> None:
    assert answers.retry_after(example["seconds"]) == example["retry_after"]


def test_the_problems() -> None:
    known = [(each.name, each.status, each.headers(), each.body) for each in answers.PROBLEMS]
    assert known == [
        (each["name"], each["status"], headers(each["headers"]), each["body"].encode())
        for each in EXAMPLES["problems"]
    ]
    assert answers.IN_PROGRESS.headers(7)[-1] == (b"retry-after", b"7")


@each("tokens")
def test_a_form_token(example: Any) -> None:
    token = form.token_of(raw(example["token"]))
    assert token == (example["token"] if example["valid"] else None)
    assert token is None or form.token_key(token) == example["record_key"]


@each("forms")
def test_the_token_in_a_form(example: Any) -> None:
    found = form.token_in(raw(example["body"]))
    assert found == (None if example["token"] is None else raw(example["token"]))


@each("bindings")
def test_to_whom_a_token_is_issued(example: Any) -> None:
    assert form.binding_of(example["tenant"]).hex() == example["binding"]


def test_the_headers_that_are_stored() -> None:
    assert sorted(form.STORED_HEADERS) == [raw(name) for name in EXAMPLES["default_headers"]]
