"""Claims of the client for threads, on a real Redis: their ends and results, and other causes of an end."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import fencepost
import pytest
import redis
from conftest import Connect
from fencepost._fencepost import option_type
from support import (
    BRIEF,
    EVERY_BYTE,
    LONG,
    LONG_RESULT,
    SHORT,
    Control,
    Interrupted,
    Program,
    RedisBackend,
    wait_until,
)

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "tests" / "scopes.json").read_text(encoding="utf-8")
)


@pytest.fixture
def client(connect: Connect, redis_server: RedisBackend) -> fencepost.Client:
    return connect(redis_server.url)


@pytest.fixture
def payments(client: fencepost.Client, redis_server: RedisBackend) -> fencepost.Idempotency:
    return client.idempotency(redis_server.prefix)


def takeovers(scope: fencepost.Idempotency, key: str) -> int:
    """Claims an operation that is not running, and returns how many times it was taken over."""
    with scope.claim(key, timeout=LONG) as claim:
        assert not claim.replayed
        claim.release()
    return claim.takeovers


def lapsed(scope: fencepost.Idempotency, key: str) -> fencepost.Claim:
    """A claim that is lost: its lease is over."""
    claim = scope.claim(key)
    assert claim.lost.wait(LONG)
    time.sleep(SHORT["lease"])
    return claim


@pytest.mark.parametrize("row", ROWS, ids=json.dumps)
def test_a_client_reads_a_scope(row: dict[str, Any]) -> None:
    options: dict[str, Any] = {
        name: timedelta(microseconds=value)
        if option_type(name) == "duration" and isinstance(value, int)
        else value
        for name, value in row["options"].items()
    }
    options.setdefault("scope", "")
    with fencepost.connect("redis://127.0.0.1:1") as client:
        if "error" not in row:
            client.idempotency(**options)
            return
        with pytest.raises((fencepost.ConfigError, TypeError)) as caught:
            client.idempotency(**options)
    if isinstance(caught.value, fencepost.ConfigError):
        assert caught.value.name == row["error"]
    else:
        assert row["error"] == "unknown-option"


def test_a_claim_and_its_replay(payments: fencepost.Idempotency) -> None:
    with payments.claim("order-17", fingerprint="17 euros") as claim:
        assert (claim.replayed, claim.takeovers, claim.is_valid) == (False, 0, True)
        assert 0 < (claim.remaining() or 0) <= 30
        claim.extend()
        with pytest.raises(fencepost.MisuseError, match="no result yet") as caught:
            claim.result  # noqa: B018
        assert (caught.value.code, caught.value.name) == (544, "no-result")
        assert claim.derive("charge") == claim.derive("charge") != claim.derive("refund")
        claim.complete({"paid": [17]})
    assert (claim.replayed, claim.result, claim.tag) == (False, {"paid": [17]}, "json")
    with payments.claim("order-17", fingerprint="17 euros") as again:
        assert (again.replayed, again.result, again.tag) == (True, {"paid": [17]}, "json")
        ends: list[Callable[[], None]] = [lambda: again.complete(1), again.release, again.leave]
        for end in [*ends, again.extend]:
            with pytest.raises(fencepost.MisuseError, match="there is no grant"):
                end()
    with pytest.raises(fencepost.Mismatch):
        payments.claim("order-17", fingerprint="18 euros")


@pytest.mark.parametrize("how", [{}, {"protocol": 3}, {"decode_responses": True}], ids=str)
def test_results_of_any_bytes(redis_server: RedisBackend, how: dict[str, Any]) -> None:
    own = redis.Redis.from_url(redis_server.url, **how)
    with fencepost.Client(own) as client:
        images = client.idempotency(redis_server.prefix, codec=fencepost.BYTES)
        with images.claim("order-17", fingerprint=EVERY_BYTE) as claim:
            claim.complete(EVERY_BYTE)
        assert images.claim("order-17", fingerprint=EVERY_BYTE).result == EVERY_BYTE
        record = images.look("order-17")
        assert record is not None
        assert (record.state, record.tag, record.result) == ("done", "bytes", EVERY_BYTE)
        # The background thread reads this reply, because this claim waits.
        with images.claim("order-18") as claim:
            results: list[bytes] = []
            waiting = threading.Thread(target=lambda: results.append(images.claim("order-18").result))
            waiting.start()
            time.sleep(0.05)
            claim.complete(LONG_RESULT)
        waiting.join(LONG)
        assert results == [LONG_RESULT]
    own.close()


def test_a_claim_that_does_not_wait(payments: fencepost.Idempotency) -> None:
    with payments.claim("order-17") as claim:
        limits: list[dict[str, Any]] = [{"blocking": False}, {"timeout": BRIEF}]
        for limit in limits:
            with pytest.raises(fencepost.InProgress) as caught:
                payments.claim("order-17", **limit)
            assert caught.value.code == 317
            assert 25 < (caught.value.retry_after or 0) <= 30
            assert pickle.loads(pickle.dumps(caught.value)).retry_after == caught.value.retry_after
        claim.release()
    assert takeovers(payments, "order-17") == 0


@pytest.mark.parametrize(
    ("policy", "error"),
    [("retake", None), ("block", fencepost.InProgress), ("indeterminate", fencepost.Indeterminate)],
)
def test_what_follows_a_claim_that_is_left(
    client: fencepost.Client, redis_server: RedisBackend, policy: Any, error: Any
) -> None:
    scope = client.idempotency(redis_server.prefix, on_lease_end=policy)
    scope.claim("order-17").leave()
    if error is None:
        assert takeovers(scope, "order-17") == 1
        return
    with pytest.raises(error):
        scope.claim("order-17", blocking=False)


def by_exception(claim: fencepost.Claim) -> None:
    error = RuntimeError("declined")
    with pytest.raises(RuntimeError, match="declined"), claim:
        raise error


def by_its_end(claim: fencepost.Claim) -> None:
    with claim:
        pass


def by_a_result_that_is_none(claim: fencepost.Claim) -> None:
    with pytest.raises(fencepost.ConfigError, match="which the codec 'json' cannot store"), claim:
        claim.complete(object())


def by_a_result_that_is_too_long(claim: fencepost.Claim) -> None:
    with pytest.raises(fencepost.ConfigError, match=r"^[^:]+/.+: the result has 1000002 bytes"), claim:
        claim.complete("x" * 1_000_000)


@pytest.mark.parametrize(
    "end", [by_exception, by_its_end, by_a_result_that_is_none, by_a_result_that_is_too_long]
)
def test_a_block_leaves(payments: fencepost.Idempotency, end: Callable[[fencepost.Claim], None]) -> None:
    claim = payments.claim("order-17")
    end(claim)
    del claim
    assert takeovers(payments, "order-17") == 1


def test_a_claim_that_is_dropped_is_left(payments: fencepost.Idempotency) -> None:
    payments.claim("order-17")
    assert takeovers(payments, "order-17") == 1


def test_a_closed_client_leaves(connect: Connect, redis_server: RedisBackend) -> None:
    client = connect(redis_server.url)
    claim = client.idempotency(redis_server.prefix).claim("order-17")
    client.close()
    assert claim.lost.is_set()
    with pytest.raises(fencepost.ClaimLost, match="client was closed"):
        claim.complete(1)
    with pytest.raises(fencepost.ClaimLost, match="client was closed"):
        claim.leave()
    assert takeovers(connect(redis_server.url).idempotency(redis_server.prefix), "order-17") == 1


def test_a_forked_child_ends_nothing(redis_server: RedisBackend, payments: fencepost.Idempotency) -> None:
    program = Program("fork_in_claim.py", redis_server.url, redis_server.prefix)
    assert [program.line() for _ in range(2)] == ["child 3", "completed"]
    assert program.finish() == 0
    assert payments.claim("order-17").result == 17


def test_a_lost_claim_may_be_completed(client: fencepost.Client, redis_server: RedisBackend) -> None:
    scope = client.idempotency(redis_server.prefix, **SHORT)
    with lapsed(scope, "order-17") as claim:
        assert not claim.is_valid
        claim.complete(17)
    assert scope.claim("order-17").result == 17


def test_a_lost_claim_that_was_taken_over(client: fencepost.Client, redis_server: RedisBackend) -> None:
    short = client.idempotency(redis_server.prefix, **SHORT)
    scope = client.idempotency(redis_server.prefix)
    late = lapsed(short, "order-17")
    with scope.claim("order-17") as claim:
        assert claim.takeovers == 1
        with pytest.raises(fencepost.ClaimLost) as caught:
            late.complete(16)
        assert (caught.value.code, caught.value.name) == (408, "superseded")
        claim.complete(17)
    # The server keeps the other attempt's result.
    late = lapsed(short, "order-18")
    scope.claim("order-18").complete(18)
    late.complete(16)
    assert (late.replayed, late.result) == (True, 18)


def test_the_block_of_a_lost_claim_says_so(client: fencepost.Client, redis_server: RedisBackend) -> None:
    scope = client.idempotency(redis_server.prefix, **SHORT)
    with pytest.raises(fencepost.ClaimLost) as caught, lapsed(scope, "order-17"):
        pass
    assert caught.value.name == "lease-ended"
    with pytest.raises(RuntimeError) as raised, lapsed(scope, "order-17"):
        raise RuntimeError
    assert "the claim was lost" in "".join(getattr(raised.value, "__notes__", ["the claim was lost"]))
    # A finalizer closes its machine.
    lapsed(scope, "order-17")
    wait_until(lambda: client._engine.hub.pending == 0, "nothing is pending")


def test_a_refused_result_can_be_replaced(redis_server: RedisBackend, connect: Connect, user: Any) -> None:
    url = user("+@all")
    claim = connect(url).idempotency(redis_server.prefix).claim("order-17")
    name = url.partition("//")[2].partition(":")[0]
    execute: Any = redis_server.client.execute_command
    execute("ACL", "SETUSER", name, "-evalsha", "-eval")
    with pytest.raises(fencepost.Refused) as caught:
        claim.complete(16)
    assert caught.value.name == "no-permission"
    assert claim.is_valid
    execute("ACL", "SETUSER", name, "+@all")
    claim.complete(17)
    assert claim.result == 17


def test_a_completion_waits_for_the_server(
    redis_server: RedisBackend, payments: fencepost.Idempotency, control: Control
) -> None:
    claim = payments.claim("order-17")
    control.do("pause redis-1")
    completing = threading.Thread(target=lambda: claim.complete(17))
    completing.start()
    time.sleep(0.05)
    assert completing.is_alive()
    control.do("resume redis-1")
    completing.join(LONG)
    assert claim.result == 17


def test_a_claim_cannot_be_copied(payments: fencepost.Idempotency) -> None:
    with payments.claim("order-17") as claim:
        for each in (claim, payments):
            for how in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match="cannot be copied or pickled"):
                    how(each)


@pytest.mark.parametrize("after", range(1, 260, 7))
def test_an_interrupt_leaves_nothing_running(payments: fencepost.Idempotency, after: int) -> None:
    with Interrupted(after), payments.claim("order-17") as claim:
        claim.complete(17)
    with payments.claim("order-17", timeout=LONG) as claim:
        assert claim.takeovers <= 1
        assert not claim.replayed or claim.result == 17


def test_a_kept_interrupt_of_an_exit_leaves_the_operation(payments: fencepost.Idempotency) -> None:
    for after in itertools.count(1):
        claim = payments.claim(f"order-{after}")
        kept: list[BaseException] = []
        with Interrupted(after, kept) as places:
            claim.__exit__(None, None, None)
        with payments.claim(f"order-{after}", timeout=LONG) as next_claim:
            assert next_claim.takeovers <= 1
        if not places:
            break
        assert len(kept) == 1
    assert after > 10
