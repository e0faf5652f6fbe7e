"""Idempotent operations over the raw hub: scopes, claims, and records of any bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fencepost
import pytest
from fencepost.hub import Command, Event, Hub, Record, Scope, Settings, Wait
from support import EVERY_BYTE

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "tests" / "scopes.json").read_text(encoding="utf-8")
)


def scope(**options: object) -> Scope:
    return Scope(json.dumps({"server": "redis", "kind": "claim", "scope": "payments", **options}))


def opened(settings: Settings) -> tuple[Hub, int, Command]:
    """A hub with a machine that acquires, its key, and its first command."""
    hub = Hub("redis", 7)
    key = hub.open(1_000_000, settings, bytes(16), 42)
    hub.acquire(1_000_000, key)
    command = hub.poll_output()
    assert isinstance(command, Command)
    return hub, key, command


def event(hub: Hub) -> Event:
    """The next event."""
    while not isinstance(output := hub.poll_output(), Event):
        assert not isinstance(output, Wait), output
    return output


def done(result: bytes) -> bytes:
    """A record that has a result, as in the server's reply."""
    fields = {
        "state": "done",
        "attempt": f"{'6f' * 16}-1",
        "fence": "1790000000000000",
        "fingerprint": "print",
    }
    fields |= {"retention": "86400000", "kept": "1790086400000", "tag": "png"}
    texts = {name: value.encode() for name, value in fields.items()} | {"result": result}
    lines = [b"%s:%d:%s" % (name.encode(), len(value), value) for name, value in texts.items()]
    return b"\n".join([b"fencepost-record:1", *lines, b""])


@pytest.mark.parametrize("row", ROWS, ids=json.dumps)
def test_the_hub_reads_a_scope(row: dict[str, Any]) -> None:
    text = json.dumps({"server": "redis", "kind": "claim", **row["options"]})
    if "error" not in row:
        assert Scope(text).claim("order-17", b"print").family == "redis"
        return
    with pytest.raises(fencepost.ConfigError) as caught:
        Scope(text)
    assert caught.value.name == row["error"]
    assert row["says"] in str(caught.value)


@pytest.mark.parametrize("other", ["zookeeper", "memory"])
def test_other_servers_have_idempotency(other: str) -> None:
    assert scope(server=other).claim("order-17", b"print").family == "zookeeper"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: scope().claim("", b""), 'key is ""'),
        (lambda: scope().claim("k", bytes(1025)), "longer than 1024 bytes"),
        (lambda: scope().consume("k", bytes(1025), b""), "longer than 1024 bytes"),
        (lambda: scope().issue("k", b"", 0), "life is 0"),
        (lambda: scope().register("k", None, b"", "x" * 256, b""), "longer than 255 bytes"),
        (lambda: scope().settle("k", 1, "", bytes(1_000_001)), "longer than 1000000 bytes"),
        (lambda: scope().update("k", "", 0, b"", "", b""), 'operation is ""'),
    ],
)
def test_requests_that_make_no_sense(make: Callable[[], object], says: str) -> None:
    with pytest.raises(fencepost.ConfigError, match=says):
        make()


def test_a_derived_key_is_the_same_in_all_languages() -> None:
    assert scope().derive("order-17", "charge") == "5ea047ab7a76865a46935f91d9a50cc4"


def test_a_claim_is_completed_with_any_bytes() -> None:
    hub, key, command = opened(scope(lease=9_000_000).claim("order-17", EVERY_BYTE))
    assert EVERY_BYTE in command.arguments
    hub.reply(1_000_100, command.id, b"claimed 1790000000000001 2")
    granted = event(hub)
    assert (granted.name, granted.fence, granted.takeovers) == ("acquired", 1790000000000001, 2)
    with pytest.raises(fencepost.ConfigError, match="longer than 1000000 bytes"):
        hub.complete(1_000_200, key, "png", bytes(1_000_001))
    hub.complete(1_000_200, key, "png", EVERY_BYTE)
    command = hub.poll_output()  # type: ignore[assignment]
    assert command.arguments[-3:-1] == (b"png", EVERY_BYTE)
    hub.reply(1_000_300, command.id, b"completed")
    reported = event(hub)
    assert reported.name == "completed"
    assert isinstance(reported.record, Record)
    assert (reported.record.tag, reported.record.result) == ("png", EVERY_BYTE)
    with pytest.raises(fencepost.MisuseError) as caught:
        hub.leave(1_000_400, key)
    assert caught.value.name == "not-held"


def test_a_replay_has_any_bytes() -> None:
    hub, _, command = opened(scope().consume("order-17", b"alice", b"print"))
    hub.reply(1_000_100, command.id, b"replayed " + done(EVERY_BYTE))
    reported = event(hub)
    record = reported.record
    assert reported.name == "replayed"
    assert record is not None
    assert (record.state, record.attempt, record.fence, record.guard) == (
        "done",
        f"{'6f' * 16}-1",
        1790000000000000,
        1790000000000001,
    )
    assert (record.takeovers, record.policy, record.lease_end) == (0, "retake", 0)
    assert (record.kept_until, record.version) == (1790086400000, 0)
    assert (record.tag, record.result) == ("png", EVERY_BYTE)
    assert repr(record) == "<Record done, version 0, fence 1790000000000000, 256 bytes>"


def test_a_refusal_says_when_to_try_again() -> None:
    hub = Hub("redis", 7)
    key = hub.open(1_000_000, scope().claim("order-17", b""), bytes(16), 42)
    hub.try_acquire(1_000_000, key)
    command = hub.poll_output()
    assert isinstance(command, Command)
    hub.reply(1_000_000, command.id, b"in-progress 2000")
    reported = event(hub)
    assert (reported.name, reported.reason, reported.code) == ("refused", "in-progress", 317)
    assert reported.retry_after is not None
    assert 1_900_000 < reported.retry_after <= 2_100_000
    assert reported.record is None


def test_what_is_no_claim() -> None:
    hub = Hub("redis", 7)
    lock = Settings(json.dumps({"kind": "redis-string", "name": "stock/42"}))
    key = hub.open(1_000_000, lock, bytes(16), 42)
    calls: list[Callable[[], None]] = [
        lambda: hub.leave(1_000_000, key),
        lambda: hub.complete(1_000_000, key, "", b""),
    ]
    for call in calls:
        with pytest.raises(fencepost.MisuseError) as caught:
            call()
        assert (caught.value.code, caught.value.name) == (211, "not-a-claim")
