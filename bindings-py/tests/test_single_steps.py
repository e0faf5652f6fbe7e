"""Requests of one step, results of codecs, and bad input, with the client for threads on a real Redis."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import Connect
from support import EVERY_BYTE, RedisBackend


@pytest.fixture
def client(connect: Connect, redis_server: RedisBackend) -> fencepost.Client:
    return connect(redis_server.url)


@pytest.fixture
def payments(client: fencepost.Client, redis_server: RedisBackend) -> fencepost.Idempotency:
    return client.idempotency(redis_server.prefix)


def test_tokens(payments: fencepost.Idempotency) -> None:
    payments.issue("token-1", "alice", life=timedelta(minutes=1))
    with pytest.raises(fencepost.Mismatch):
        payments.issue("token-1", "alice")
    with pytest.raises(fencepost.Mismatch):
        payments.consume("token-1", "bob")
    with payments.consume("token-1", "alice") as claim:
        claim.complete(17)
    assert payments.consume("token-1", "alice").result == 17
    with pytest.raises(fencepost.Refused) as caught:
        payments.consume("token-2", "alice")
    assert (caught.value.code, caught.value.name) == (320, "unknown-token")


def test_business_numbers(payments: fencepost.Idempotency) -> None:
    assert payments.register("invoice-7", [7]) == fencepost.Outcome([7], False)
    assert payments.register("invoice-7", [8]) == fencepost.Outcome([7], True)
    payments.issue("token-1", "alice")
    assert payments.register("token-1", 1, binding="alice") == fencepost.Outcome(1, False)


def test_versions(payments: fencepost.Idempotency) -> None:
    assert payments.update("stock", 9, operation="sell-1", version=0) == fencepost.Outcome(1, False)
    assert payments.update("stock", 9, operation="sell-1", version=0) == fencepost.Outcome(1, True)
    assert payments.update("stock", 8, operation="sell-2", version=1).value == 2
    with pytest.raises(fencepost.Conflict) as caught:
        payments.update("stock", 7, operation="sell-3", version=1)
    errors: list[Any] = [caught.value, pickle.loads(pickle.dumps(caught.value))]
    for error in errors:
        assert (error.record.version, error.record.result) == (2, b"8")
        assert error.record.kept_until is None
    with pytest.raises(fencepost.Conflict) as caught:
        payments.update("other", 7, operation="sell-3", version=1)
    assert caught.value.record is None


def test_what_operators_do(client: fencepost.Client, redis_server: RedisBackend) -> None:
    scope = client.idempotency(redis_server.prefix, on_lease_end="indeterminate")
    assert scope.look("order-17") is None
    scope.claim("order-17").leave()
    record = scope.look("order-17")
    assert record is not None
    assert (record.state, record.policy, record.takeovers) == ("running", "indeterminate", 0)
    assert record.kept_until is not None
    assert scope.settle("order-17", record, "paid by hand") == fencepost.Outcome("paid by hand", False)
    assert scope.settle("order-17", record, "paid again") == fencepost.Outcome("paid by hand", True)
    assert scope.claim("order-17").result == "paid by hand"
    with pytest.raises(fencepost.Refused) as caught:
        scope.settle("order-18", record, "paid by hand")
    assert caught.value.name == "record-changed"
    present = scope.look("order-17")
    assert present is not None
    scope.forget("order-17", present)
    assert scope.look("order-17") is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda scope: scope.claim(17), "the key is 17: give a str"),
        (lambda scope: scope.claim(""), "it is empty"),
        (lambda scope: scope.claim("\ud800"), "lone surrogate"),
        (lambda scope: scope.claim("k", fingerprint=17), "the fingerprint is 17: give bytes"),
        (lambda scope: scope.claim("k", timeout=0), "timeout is 0"),
        (lambda scope: scope.claim("k", blocking=None), "blocking is None"),
        (lambda scope: scope.consume("t", None), "the binding is None"),
        (lambda scope: scope.issue("t", "b", life=-1), "life is -1"),
        (lambda scope: scope.update("k", 1, operation="o", version=-1), "the version is -1"),
        (lambda scope: scope.update("k", 1, operation=1, version=1), "the operation is 1"),
        (lambda scope: scope.settle("k", 7, 1), "the record is 7"),
        (lambda scope: scope.forget("k", None), "the record is None"),
        (lambda scope: scope.register("k", {1, 2}), "cannot store"),
        (lambda scope: scope.register("k", float("nan")), "cannot store"),
    ],
)
def test_bad_input_is_refused_before_anything_is_sent(
    connect: Connect, call: Callable[[Any], object], says: str
) -> None:
    scope = connect("redis://127.0.0.1:1").idempotency("payments")
    with pytest.raises(fencepost.ConfigError, match=says):
        call(scope)


def test_no_server() -> None:
    with fencepost.connect("redis://127.0.0.1:1", connect_timeout=0.05) as client:
        payments = client.idempotency("payments")
        for call in (payments.claim, payments.look):
            with pytest.raises(fencepost.Refused) as caught:
                call("order-17")
            assert caught.value.name == "unreachable"


def test_results_of_another_codec(client: fencepost.Client, redis_server: RedisBackend) -> None:
    raw = client.idempotency(redis_server.prefix, codec=fencepost.BYTES)
    raw.register("order-17", b"\x00")
    pickled = fencepost.Codec("json", pickle.dumps, pickle.loads)
    client.idempotency(redis_server.prefix, codec=pickled).register("order-18", {17})
    for key in ("order-17", "order-18"):
        claim = client.idempotency(redis_server.prefix).claim(key)
        with pytest.raises(fencepost.Refused, match="cannot be read") as caught:
            claim.result  # noqa: B018
        assert caught.value.name == "corrupt-record"
    assert client.idempotency(redis_server.prefix, codec=pickled).claim("order-18").result == {17}


@pytest.mark.parametrize(
    ("codec", "says"),
    [
        (None, r"give a fencepost\.Codec"),
        ("json", r"give a fencepost\.Codec"),
        ((5, bytes, bytes), "the tag of the codec is 5: give a str"),
        (("\ud800", bytes, bytes), "contains a lone surrogate"),
        (("ü" * 128, bytes, bytes), "which has 256 bytes in UTF-8: give at most 255"),
        (("raw", None, bytes), "encode of the codec 'raw' is None: give a function"),
        (("raw", bytes, 5), "decode of the codec 'raw' is 5: give a function"),
    ],
)
@pytest.mark.parametrize("make", [fencepost.connect, fencepost.asyncio.connect])
async def test_codecs_that_cannot_work(make: Callable[[str], Any], codec: Any, says: str) -> None:
    given = fencepost.Codec(*codec) if isinstance(codec, tuple) else codec
    client = make("memory:")
    with pytest.raises(fencepost.ConfigError, match=says):
        client.idempotency("payments", codec=given)
    if given is not None:
        with pytest.raises(fencepost.ConfigError, match=says):
            client.idempotency("payments").once(key=str, codec=given)
    closing = client.close()
    if closing is not None:
        await closing


def test_a_tag_of_full_length(client: fencepost.Client, redis_server: RedisBackend) -> None:
    raw = fencepost.Codec("ü" * 127 + "x", bytes, bytes)
    scope = client.idempotency(redis_server.prefix, codec=raw)
    scope.register("order-17", EVERY_BYTE)
    assert scope.claim("order-17").result == EVERY_BYTE


def test_an_argument_that_the_hub_cannot_read(client: fencepost.Client, redis_server: RedisBackend) -> None:
    """The claim continues."""
    tags: list[Any] = [5, "\ud800"]
    with client.idempotency(redis_server.prefix).claim("order-17") as claim:
        for tag in tags:
            with pytest.raises((TypeError, UnicodeEncodeError)):
                claim._complete(tag, b"")
        assert claim.is_valid
        claim.complete("receipt")
