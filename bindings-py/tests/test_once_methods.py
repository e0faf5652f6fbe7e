"""Methods that run once for each key: they behave like plain methods."""

from __future__ import annotations

import asyncio
import gc
import inspect
import pickle
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from blinker import Signal  # comes with Flask

client = fencepost.connect("memory:")
memory = client.idempotency("shop")


@pytest.fixture(autouse=True, scope="module")
def closed() -> Iterator[None]:
    yield
    client.close()


class Shop:
    """A class with methods in each form."""

    @memory.once(key=lambda shop, order: order)
    def pay(self, order: str, cents: int = 5) -> str:
        """Pays an order."""
        return order

    def plain(self, order: str, cents: int = 5) -> str:
        return order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shop)

    def __hash__(self) -> int:
        return 7


def _key(shop: object, order: str) -> str:
    return order


@pytest_asyncio.fixture(params=["threads", "asyncio"])
async def shops(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A class of each client."""
    if request.param == "threads":
        yield Shop
        return
    async with fencepost.asyncio.connect("memory:") as below_a_loop:
        scope = below_a_loop.idempotency("shop")

        class AsyncShop:
            @scope.once(key=_key)
            async def pay(self, order: str, cents: int = 5) -> str:
                """Pays an order."""
                return order

            plain = Shop.plain

        yield AsyncShop


async def test_the_signature_has_no_self(shops: Callable[[], Any]) -> None:
    """FastAPI and pytest derive arguments from the signature."""
    shop: Any = shops()
    kind: Any = shops
    assert inspect.signature(shop.pay) == inspect.signature(shop.plain)
    assert str(inspect.signature(shop.pay)) == "(order: 'str', cents: 'int' = 5) -> 'str'"
    assert str(inspect.signature(kind.pay)) == "(self, order: 'str', cents: 'int' = 5) -> 'str'"
    assert str(inspect.signature(kind.pay.__wrapped__)) == str(inspect.signature(kind.pay))
    assert shop.pay.__doc__ == "Pays an order."
    assert "(" in str(inspect.signature(type(shop.pay)))


async def test_two_accesses_are_equal(shops: Callable[[], Any]) -> None:
    """So a program can remove a method that it has registered. Methods of other objects are not equal."""
    shop, other = shops(), shops()
    pay, again = shop.pay, shop.pay
    assert pay is not again
    assert pay == again
    assert hash(pay) == hash(again)
    assert pay != other.pay
    assert pay != type(shop).pay
    assert pay != shop.plain
    assert len({pay, again, other.pay, type(shop).pay}) == 3
    assert (pay.__self__, pay.__func__) == (shop, type(shop).pay)
    assert not hasattr(type(shop).pay, "__self__")


async def test_a_method_stays_with_its_object(shops: Callable[[], Any]) -> None:
    shop = shops()

    class Counter:
        pay = shop.pay

    assert Counter().pay == shop.pay


@memory.once(key=lambda kind, order: f"{kind.__name__}/{order}")
def _charge(kind: type, order: str) -> str:
    return order


class Till:
    """A form that type checkers understand. They do not understand @classmethod above another decorator."""

    @classmethod
    def charge(cls, order: str) -> str:
        return _charge(cls, order)

    @staticmethod
    def refund(order: str) -> str:
        return _charge(Till, f"refund {order}")


class Receiver:
    """The receiver of a signal."""

    @memory.once(key=lambda receiver, sender, **_: sender)
    def receive(self, sender: str, **_: object) -> str:
        return sender


def test_class_methods_and_static_methods() -> None:
    assert (Till.charge("order-19"), Till().charge("order-19")) == ("order-19", "order-19")
    assert (Till.refund("order-19"), Till().refund("order-19")) == ("refund order-19",) * 2
    assert _charge.outcome(Till, "order-19").replayed


def test_a_method_is_pickled_with_its_object() -> None:
    again = pickle.loads(pickle.dumps(Shop().pay))
    assert again("order-17") == "order-17"
    assert again.__self__ == Shop()


def test_a_method_without_a_signature() -> None:
    """Some functions in C have no signature."""

    class Odd:
        __signature__ = "of another kind"

        def __call__(self, shop: object, order: str) -> str:
            return order

    class Odds:
        pay = memory.once(key=_key)(Odd())

    assert Odds().pay("order-18") == "order-18"


async def test_a_weak_reference_makes_the_method_again(shops: Callable[[], Any]) -> None:
    """Signals refer to their receivers in this way, if `inspect` recognises a receiver as a method."""
    shop = shops()
    reference = weakref.WeakMethod(shop.pay)
    again = reference()
    assert again == shop.pay
    assert again.__self__ is shop
    assert inspect.ismethod(again)
    assert inspect.getfullargspec(again).args == ["self", "order", "cents"]
    assert isinstance(again, type(type(shop).pay))
    assert asyncio.iscoroutinefunction(again) == asyncio.iscoroutinefunction(type(shop).pay)
    given = again("order-23")
    assert (await given if inspect.isawaitable(given) else given) == "order-23"
    given = again.outcome("order-23")
    assert (await given if inspect.isawaitable(given) else given).replayed
    del shop, again, given
    gc.collect()
    assert reference() is None


def test_a_method_receives_a_signal() -> None:
    paid, shop = Signal(), Receiver()
    paid.connect(shop.receive)
    assert paid.send("order-29") == [(shop.receive, "order-29")]
    paid.disconnect(shop.receive)
    assert paid.send("order-29") == []
