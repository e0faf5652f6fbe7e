"""A flash sale that sells each user one piece of an item, even if the user clicks several times.

The user and the item are the key of the operation. The program knows the result, an order number,
beforehand. So one request claims the operation and completes it.

    python examples/seckill.py
    python examples/seckill.py redis://localhost:6379
    python examples/seckill.py zk://localhost:2181/shop
"""

from __future__ import annotations

import secrets
import sys
from concurrent.futures import ThreadPoolExecutor

import fencepost

USERS, CLICKS, PIECES = 10, 3, 5

#: Stands for the queue of orders. An order that is already in the queue is not added again.
queue: dict[str, str] = {}


def buy(sales: fencepost.Idempotency, item: str, user: str) -> fencepost.Outcome[str]:
    """Handles a click: the user's order number, and whether an earlier click has made it."""
    made = sales.register(f"{item}/{user}", f"order-{secrets.token_hex(8)}")
    # Also after a replay: the process that has registered the order may have ended before this line.
    queue.setdefault(made.value, user)
    return made


def main(address: str) -> None:
    """Ten users click three times each, for five pieces."""
    # Each run of this example sells another item.
    item = f"item-{secrets.token_hex(8)}"
    with fencepost.connect(address) as client, ThreadPoolExecutor(8) as requests:
        sales = client.idempotency("flash-sale")
        users = [f"user-{number}" for number in range(USERS)] * CLICKS
        outcomes = list(requests.map(lambda user: buy(sales, item, user), users))
    new = [outcome for outcome in outcomes if not outcome.replayed]
    print(f"{len(outcomes)} clicks, {len(new)} orders, {len(outcomes) - len(new)} replayed")
    winners = list(queue.values())[:PIECES]
    print(f"{len(winners)} pieces, {len(set(winners))} users")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
