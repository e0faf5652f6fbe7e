"""Claims of the client for asyncio, on a real Redis: blocks, cancellations, and results of any bytes."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
import redis.asyncio
from conftest import AsyncConnect
from fencepost._engine.claim import ClaimContender
from fencepost.hub import Event
from support import EVERY_BYTE, LONG, LONG_RESULT, SHORT, RedisBackend, wait_until_async


@pytest_asyncio.fixture
async def client(aconnect: AsyncConnect, redis_server: RedisBackend) -> fencepost.asyncio.Client:
    return aconnect(redis_server.url)


@pytest_asyncio.fixture
async def payments(
    client: fencepost.asyncio.Client, redis_server: RedisBackend
) -> fencepost.asyncio.Idempotency:
    return client.idempotency(redis_server.prefix)


async def takeovers(scope: fencepost.asyncio.Idempotency, key: str) -> int:
    """Claims an operation that is not running, and returns how many times it was taken over."""
    async with scope.claim(key, timeout=LONG) as claim:
        assert not claim.replayed
        await claim.release()
    return claim.takeovers


async def test_a_claim_and_its_replay(payments: fencepost.asyncio.Idempotency) -> None:
    async with payments.claim("order-17", fingerprint=b"17") as claim:
        assert (claim.replayed, claim.is_valid) == (False, True)
        with pytest.raises(fencepost.InProgress) as caught:
            await payments.claim("order-17", fingerprint=b"17", blocking=False)
        assert (caught.value.retry_after or 0) > 25
        waiting = asyncio.ensure_future(payments.claim("order-17", fingerprint=b"17"))
        await asyncio.sleep(0.02)
        await claim.complete({"paid": 17})
        assert claim.result == {"paid": 17}
    again = await waiting
    assert (again.replayed, again.result) == (True, {"paid": 17})
    with pytest.raises(fencepost.Mismatch):
        await payments.claim("order-17", fingerprint=b"18")
    with pytest.raises(fencepost.MisuseError):
        await again.complete(1)


@pytest.mark.parametrize("how", [{}, {"protocol": 3}, {"decode_responses": True}], ids=str)
async def test_results_of_any_bytes(redis_server: RedisBackend, how: dict[str, Any]) -> None:
    own = redis.asyncio.Redis.from_url(redis_server.url, **how)
    async with fencepost.asyncio.Client(own) as client:
        images = client.idempotency(redis_server.prefix, codec=fencepost.BYTES)
        async with images.claim("order-17", fingerprint=EVERY_BYTE) as claim:
            await claim.complete(EVERY_BYTE)
        assert (await images.claim("order-17", fingerprint=EVERY_BYTE)).result == EVERY_BYTE
        record = await images.look("order-17")
        assert record is not None
        assert record.result == EVERY_BYTE
        await images.register("order-18", LONG_RESULT)
        assert (await images.claim("order-18")).result == LONG_RESULT
    await own.aclose()


@pytest.mark.parametrize("how", ["cancelled", "exception", "end", "dropped"])
async def test_a_block_leaves(payments: fencepost.asyncio.Idempotency, how: str) -> None:
    begun = asyncio.Event()

    async def run() -> None:
        if how == "dropped":
            await payments.claim("order-17")
            return
        async with payments.claim("order-17"):
            begun.set()
            if how == "cancelled":
                await asyncio.sleep(LONG)
            if how == "exception":
                raise OSError("declined")

    running = asyncio.create_task(run())
    if how == "cancelled":
        await begun.wait()
        running.cancel()
    await asyncio.wait([running])
    assert running.cancelled() == (how == "cancelled")
    assert running.cancelled() or isinstance(running.exception(), OSError) == (how == "exception")
    gc.collect()
    assert await takeovers(payments, "order-17") == 1


async def test_a_waiting_claim_that_is_cancelled(payments: fencepost.asyncio.Idempotency) -> None:
    async with payments.claim("order-17") as claim:
        waiting = asyncio.ensure_future(payments.claim("order-17"))
        await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await claim.release()
    assert await takeovers(payments, "order-17") == 0


async def test_a_claim_that_is_cancelled_as_it_is_granted(
    client: fencepost.asyncio.Client, redis_server: RedisBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program never got the claim, so the operation has not run, and no record is left."""
    scope = client.idempotency(redis_server.prefix, on_lease_end="indeterminate")
    claiming = asyncio.ensure_future(scope.claim("order-17"))
    handle_event = ClaimContender.handle_event

    def cancelled(contender: ClaimContender, event: Event, cause: BaseException | None) -> bool:
        if event.name == "acquired":
            claiming.cancel()
        return handle_event(contender, event, cause)

    with monkeypatch.context() as patched:
        patched.setattr(ClaimContender, "handle_event", cancelled)
        with pytest.raises(asyncio.CancelledError):
            await claiming
    assert await takeovers(scope, "order-17") == 0


async def test_a_cancelled_completion_goes_on(payments: fencepost.asyncio.Idempotency) -> None:
    async def run() -> None:
        async with payments.claim("order-17") as claim:
            running.cancel()
            await claim.complete(17)

    running = asyncio.create_task(run())
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await payments.claim("order-17", timeout=LONG)).result == 17


async def test_a_closed_client_leaves(aconnect: AsyncConnect, redis_server: RedisBackend) -> None:
    client = aconnect(redis_server.url)
    claim = await client.idempotency(redis_server.prefix).claim("order-17")
    await client.close()
    with pytest.raises(fencepost.ClaimLost, match="client was closed"):
        await claim.complete(1)
    assert await takeovers(aconnect(redis_server.url).idempotency(redis_server.prefix), "order-17") == 1


async def test_a_loss_does_not_cancel_the_block(
    client: fencepost.asyncio.Client, redis_server: RedisBackend
) -> None:
    scope = client.idempotency(redis_server.prefix, **SHORT)
    async with scope.claim("order-17") as claim:
        await asyncio.wait_for(claim.lost.wait(), LONG)
        await claim.complete(17)
    assert (await scope.claim("order-17")).result == 17
    with pytest.raises(fencepost.ClaimLost) as caught:
        async with scope.claim("order-18") as claim:
            await asyncio.wait_for(claim.lost.wait(), LONG)
    assert caught.value.name == "lease-ended"
    await wait_until_async(lambda: client._engine.hub.pending == 0, "nothing is pending")


async def test_the_other_requests(payments: fencepost.asyncio.Idempotency) -> None:
    await payments.issue("token-1", "alice")
    async with payments.consume("token-1", "alice") as claim:
        await claim.leave()
    assert await payments.register("invoice-7", 7) == fencepost.Outcome(7, False)
    assert await payments.update("stock", 9, operation="sell-1", version=0) == fencepost.Outcome(1, False)
    record = await payments.look("token-1")
    assert record is not None
    await payments.settle("token-1", record, "paid by hand")
    assert (await payments.consume("token-1", "alice")).result == "paid by hand"
    with pytest.raises(fencepost.Refused, match="has changed"):
        await payments.forget("token-1", record)
    record = await payments.look("token-1")
    assert record is not None
    await payments.forget("token-1", record)
    assert await payments.look("token-1") is None


async def test_one_claim_has_one_block(payments: fencepost.asyncio.Idempotency) -> None:
    claiming = payments.claim("order-17")
    async with claiming as claim:
        with pytest.raises(fencepost.MisuseError) as caught:
            async with claiming:
                pass
        assert caught.value.name == "busy"
        await claim.release()


async def test_bad_input_is_refused_before_anything_is_sent(aconnect: AsyncConnect) -> None:
    scope: Any = aconnect("redis://127.0.0.1:1").idempotency("payments")
    for key, how in ((17, {}), ("k", {"timeout": 0}), ("k", {"fingerprint": 17})):
        with pytest.raises(fencepost.ConfigError):
            scope.claim(key, **how)
