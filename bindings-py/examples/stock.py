"""Counts a stock down by versions: a sale whose acknowledgement was lost is not counted twice.

python examples/stock.py
python examples/stock.py redis://localhost:6379
python examples/stock.py zk://localhost:2181/shop
"""

from __future__ import annotations

import json
import secrets
import sys

import fencepost


def main(address: str) -> None:
    """A sale that is sent twice, and a sale that has seen an old stock."""
    # Each run of this example uses another item.
    item = f"item-{secrets.token_hex(8)}"
    with fencepost.connect(address) as client:
        stock = client.idempotency("stock")
        # Version 0: there is no value yet. Every update has an id, and a repeated update has the same id.
        first = stock.update(item, 10, operation="delivery-1", version=0)
        print("10 pieces, version", first.value)

        sold = stock.update(item, 9, operation="sale-1", version=first.value)
        print(f"sale 1: version {sold.value}, replayed: {sold.replayed}")
        # The acknowledgement was lost, so the till sends the same sale again.
        again = stock.update(item, 9, operation="sale-1", version=first.value)
        print(f"sale 1 again: version {again.value}, replayed: {again.replayed}")

        # Another till has seen the stock before sale 1.
        try:
            stock.update(item, 9, operation="sale-2", version=first.value)
        except fencepost.Conflict as error:
            present = error.record
            assert present is not None
            left = json.loads(present.result)
            print(f"sale 2: {error.name}, {left} pieces are left in version {present.version}")
            stock.update(item, left - 1, operation="sale-2", version=present.version)

        present = stock.look(item)
        assert present is not None
        print(f"{json.loads(present.result)} pieces, version {present.version}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
