"""Takes orders from a form with a token, although users and gateways send the form more than once.

python examples/order.py
python examples/order.py redis://localhost:6379
python examples/order.py zk://localhost:2181/shop
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import fencepost

Basket = dict[str, int]

#: Stands for the shop's database.
shipped: list[Basket] = []


def form(orders: fencepost.Idempotency, user: str) -> str:
    """Shows an order form. Each form has its own token, which only this user can use."""
    token = secrets.token_urlsafe()
    orders.issue(token, binding=user)
    return token


def order(orders: fencepost.Idempotency, user: str, token: str, basket: Basket) -> str:
    """Handles a form that was sent: ships the basket once, and returns the same order number each time."""
    # If another request with this token is running, this one waits for its result.
    with orders.consume(token, binding=user, fingerprint=json.dumps(basket)) as claim:
        if not claim.replayed:
            shipped.append(basket)
            claim.complete(f"order {len(shipped)}")
        number: str = claim.result
    return number


def retrying_proxy(send: Callable[[], str]) -> str:
    """A gateway that does not get the first response, and sends the request again."""
    send()
    return send()


def main(address: str) -> None:
    """A double click, two tabs, a retrying proxy, and a token that is used for something else."""
    user, basket = "user-7", {"item-42": 1}
    with fencepost.connect(address) as client:
        orders = client.idempotency("orders")

        token = form(orders, user)
        with ThreadPoolExecutor() as clicks:
            numbers = list(clicks.map(lambda _click: order(orders, user, token, basket), range(2)))
        print("double click:", *numbers)

        # Two forms are two orders: the second form does not replace the first.
        tabs = [form(orders, user), form(orders, user)]
        print("two tabs:", *(order(orders, user, tab, basket) for tab in tabs))

        token = form(orders, user)
        print("retrying proxy:", retrying_proxy(lambda: order(orders, user, token, basket)))

        try:
            order(orders, user, token, {"item-42": 1000})
        except fencepost.Mismatch as error:
            print("the same token, another basket:", error.name)
        print("shipped:", len(shipped))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
