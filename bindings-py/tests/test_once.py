"""Functions that run once for each key, in both clients, on a real Redis."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from conftest import AsyncConnect, Connect
from support import LONG, RedisBackend


@dataclass
class Order:
    """An order to pay."""

    id: str
    amount: int = 17


class Declined(Exception):
    """The operation has failed for good."""


class Unreached(Exception):
    """The operation had no effect."""


@pytest.fixture
def payments(connect: Connect, redis_server: RedisBackend) -> fencepost.Idempotency:
    return connect(redis_server.url).idempotency(redis_server.prefix)


@pytest_asyncio.fixture
async def apayments(aconnect: AsyncConnect, redis_server: RedisBackend) -> fencepost.asyncio.Idempotency:
    return aconnect(redis_server.url).idempotency(redis_server.prefix)


def test_a_function_runs_once(payments: fencepost.Idempotency) -> None:
    ran = []

    @payments.once(key=lambda order: order.id, fingerprint=lambda order: str(order.amount))
    def pay(order: Order) -> dict[str, int]:
        """Pays an order."""
        ran.append(order)
        return {"paid": order.amount}

    order = Order("order-17")
    assert pay.outcome(order) == fencepost.Outcome({"paid": 17}, False)
    assert pay(order) == {"paid": 17}
    assert pay.outcome(order).replayed
    assert ran == [order]
    assert (pay.__name__, pay.__doc__) == ("pay", "Pays an order.")
    assert pay.__qualname__.endswith(".pay")
    with pytest.raises(fencepost.Mismatch):
        pay(Order("order-17", 18))


def test_many_threads_run_it_once(payments: fencepost.Idempotency) -> None:
    ran = []
    begun = threading.Barrier(8)

    @payments.once(key=str)
    def pay(order: str) -> int:
        ran.append(order)
        return len(ran)

    def call(_: int) -> fencepost.Outcome[int]:
        begun.wait(LONG)
        return pay.outcome("order-17")

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(call, range(8)))
    assert ran == ["order-17"]
    assert {outcome.value for outcome in outcomes} == {1}
    assert [outcome.replayed for outcome in outcomes].count(False) == 1


def test_a_method_runs_once(payments: fencepost.Idempotency) -> None:
    class Till:
        def __init__(self, name: str) -> None:
            self.name = name

        @payments.once(key=lambda till, order: f"{till.name}/{order}", codec=fencepost.BYTES)
        def pay(self, order: str) -> bytes:
            return f"{self.name} {order}".encode()

    for _ in range(2):
        assert Till("a").pay("order-17") == b"a order-17"
    assert not Till("b").pay.outcome("order-17").replayed
    assert Till("b").pay.outcome(order="order-17").replayed
    assert isinstance(Till.pay, fencepost.Once)


@pytest.mark.parametrize(
    ("error", "again"),
    [(Declined("no money"), "stored"), (Unreached(), 0), (RuntimeError(), 1), (KeyboardInterrupt(), 1)],
)
def test_exceptions(payments: fencepost.Idempotency, error: BaseException, again: object) -> None:
    ran = []

    @payments.once(key=str, release_on=(Unreached, ConnectionError), store_on=Declined)
    def pay(order: str) -> int:
        ran.append(order)
        if len(ran) == 1:
            raise error
        return 17

    with pytest.raises(type(error)):
        pay("order-17")
    if again != "stored":
        assert pay.outcome("order-17") == fencepost.Outcome(17, False)
        record = payments.look("order-17")
        assert record is not None
        assert record.takeovers == again
        return
    with pytest.raises(fencepost.StoredError, match="no money") as caught:
        pay("order-17")
    assert (caught.value.code, caught.value.name) == (507, "stored-error")
    assert len(ran) == 1


def test_the_text_of_an_exception_that_is_too_long(payments: fencepost.Idempotency) -> None:
    text = "€" * 400_000

    @payments.once(key=str, store_on=Declined)
    def pay(order: str) -> int:
        raise Declined(text)

    with pytest.raises(Declined):
        pay("order-17")
    with pytest.raises(fencepost.StoredError) as caught:
        pay("order-17")
    # The same characters as in the other languages.
    assert str(caught.value) == text[:333_332] + "…"


class DeclinedUnreached(Declined, Unreached):
    """An exception with both bases: the nearest one decides."""


class UnreachedDeclined(Unreached, Declined):
    """The same bases in the other order."""


@pytest.mark.parametrize(
    ("error", "ends"),
    [(DeclinedUnreached, "completed"), (UnreachedDeclined, "released")],
)
async def test_an_exception_with_bases_in_both_lists(
    payments: fencepost.Idempotency,
    apayments: fencepost.asyncio.Idempotency,
    error: type[Exception],
    ends: str,
) -> None:
    how: dict[str, Any] = {"key": str, "release_on": (Unreached,), "store_on": (OSError, Declined)}

    @payments.once(**how)
    def pay(order: str) -> None:
        raise error("no money")

    @apayments.once(**how)
    async def apay(order: str) -> None:
        raise error("no money")

    for expected in (error, fencepost.StoredError if ends == "completed" else error):
        with pytest.raises(expected):
            pay("order-17")
        with pytest.raises(expected):
            await apay("order-18")


def test_a_result_that_cannot_be_stored(payments: fencepost.Idempotency) -> None:
    @payments.once(key=str)
    def pay(order: str) -> object:
        return object()

    with pytest.raises(fencepost.ConfigError, match="cannot store"):
        pay("order-17")
    record = payments.look("order-17")
    assert record is not None
    assert record.state == "running"
    with payments.claim("order-17", blocking=False) as claim:
        assert claim.takeovers == 1


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"key": "id"}, "key is 'id': give a function"),
        ({"key": str, "fingerprint": b""}, "fingerprint is b'': give a function"),
        ({"key": str, "codec": "json"}, r"give a fencepost\.Codec"),
        ({"key": str, "timeout": -1}, "timeout is -1"),
        ({"key": str, "release_on": "all"}, "release_on has 'all'"),
        ({"key": str, "store_on": (ValueError, KeyboardInterrupt)}, "store_on has"),
        (
            {"key": str, "release_on": Declined, "store_on": Declined},
            "has Declined and store_on has Declined",
        ),
        (
            {"key": str, "release_on": (KeyError, OSError), "store_on": (ConnectionError,)},
            "OSError and store_on",
        ),
        (
            {"key": str, "release_on": ConnectionError, "store_on": (KeyError, Exception)},
            "has Exception, and",
        ),
    ],
)
def test_a_decorator_that_makes_no_sense(connect: Connect, how: dict[str, Any], says: str) -> None:
    with pytest.raises(fencepost.ConfigError, match=says):
        connect("redis://127.0.0.1:1").idempotency("payments").once(**how)


def test_functions_that_make_no_sense(payments: fencepost.Idempotency) -> None:
    once: Callable[[Any], Any] = payments.once(key=lambda order: order.id)
    with pytest.raises(fencepost.ConfigError, match=r"use a client of fencepost\.asyncio"):
        once(asyncio.sleep)
    with pytest.raises(fencepost.ConfigError, match="decorate a function"):
        once(17)
    with pytest.raises(fencepost.ConfigError, match="is a generator function"):
        once(_numbers)
    for function, says in (
        (partial(asyncio.sleep, 1), r"use a client of fencepost\.asyncio"),
        (called(asyncio.sleep), r"use a client of fencepost\.asyncio"),
        (partial(called(asyncio.sleep), 1), r"use a client of fencepost\.asyncio"),
        (called(_numbers), "is a generator function"),
        (partial(called(_numbers)), "is a generator function"),
    ):
        with pytest.raises(fencepost.ConfigError, match=says):
            once(function)
    with pytest.raises(fencepost.ConfigError, match="the key is 17: give a str"):
        once(print)(Order(17))  # type: ignore[arg-type]


def _numbers() -> Iterator[int]:
    yield 17


def called(function: Callable[..., Any]) -> Callable[..., Any]:
    """An object whose call runs that function."""
    made: Any = type("Called", (), {"__call__": function})
    return cast(Callable[..., Any], made())


def test_a_result_that_cannot_describe_itself(payments: fencepost.Idempotency) -> None:
    pay = payments.once(key=lambda key, _value: key)(lambda _key, value: value)
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for key, value in (("huge", 10**5000), ("deep", deep)):
        with pytest.raises(fencepost.ConfigError, match="cannot store"):
            pay(key, value)


def test_a_function_is_pickled_by_its_name(
    payments: fencepost.Idempotency, monkeypatch: pytest.MonkeyPatch
) -> None:
    pay = payments.once(key=str)(_pay)
    monkeypatch.setattr(sys.modules[__name__], "_pay", pay)
    assert pickle.loads(pickle.dumps(pay)) is pay
    assert copy.deepcopy(pay) is pay


def _pay(order: str) -> str:
    return order


async def test_a_function_without_async_runs_once(apayments: fencepost.asyncio.Idempotency) -> None:
    ran = []

    def pay(order: str) -> int:
        ran.append(order)
        return 17

    once: Any = apayments.once(key=str)(pay)  # type: ignore[arg-type]
    assert [await once("order-17") for _ in range(3)] == [17, 17, 17]
    assert ran == ["order-17"]


async def test_frameworks_see_a_coroutine_function(apayments: fencepost.asyncio.Idempotency) -> None:
    pay = apayments.once(key=str)(asyncio.sleep)
    asks = inspect if sys.version_info >= (3, 12) else asyncio
    assert asks.iscoroutinefunction(pay)


async def test_a_coroutine_function_runs_once(apayments: fencepost.asyncio.Idempotency) -> None:
    ran = []

    @apayments.once(key=lambda order: order.id)
    async def pay(order: Order) -> int:
        ran.append(order)
        await asyncio.sleep(0.01)
        return order.amount

    order = Order("order-17")
    outcomes = await asyncio.gather(*(pay.outcome(order) for _ in range(8)))
    assert len(ran) == 1
    assert {outcome.value for outcome in outcomes} == {17}
    assert [outcome.replayed for outcome in outcomes].count(False) == 1
    assert await pay(order) == 17


async def test_exceptions_of_a_coroutine_function(apayments: fencepost.asyncio.Idempotency) -> None:
    @apayments.once(key=lambda key, error: key, release_on=Unreached, store_on=Declined)
    async def pay(key: str, error: BaseException | None) -> int:
        if error is not None:
            raise error
        return 17

    for key, error in (("declined", Declined("no money")), ("unreached", Unreached()), ("left", OSError())):
        with pytest.raises(type(error)):
            await pay(key, error)
    with pytest.raises(fencepost.StoredError, match="no money"):
        await pay("declined", None)
    for key, takeovers in (("unreached", 0), ("left", 1)):
        assert await pay(key, None) == 17
        record = await apayments.look(key)
        assert record is not None
        assert record.takeovers == takeovers


async def test_a_cancelled_run_is_left(apayments: fencepost.asyncio.Idempotency) -> None:
    begun = asyncio.Event()

    @apayments.once(key=str)
    async def pay(order: str) -> None:
        begun.set()
        await asyncio.sleep(LONG)

    paying = asyncio.create_task(pay("order-17"))
    await begun.wait()
    paying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await paying
    async with apayments.claim("order-17", blocking=False) as claim:
        assert claim.takeovers == 1
