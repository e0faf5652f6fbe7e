"""A function that runs once for each key. An acquire is its first call, or a replay; there is no release."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count

from addresses import Address

#: The function's result: 1 KiB as JSON.
RESULT = "r" * 1022
#: How long a result is kept, in seconds: short, because there are many. The result of replays is kept longer.
KEPT, KEPT_LONG = 10, 3600

Order = dict[str, str]
Pay = Callable[[Order], str]


class Calls:
    """Calls of such a function."""

    def __init__(self, scope: str, kept: int, pay: Pay) -> None:
        self._pay = pay
        self._numbers = count(1)
        self._first = kept == KEPT
        self._order = self._next(scope)
        self._scope = scope
        self._pay(self._order)

    def acquire(self) -> None:
        """Calls it."""
        order = self._next(self._scope) if self._first else self._order
        assert self._pay(order) == RESULT

    def release(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing: the process ends."""

    def _next(self, scope: str) -> Order:
        return {"id": f"{scope}-{os.getpid()}-{next(self._numbers)}"}


def fencepost_calls(address: Address, scope: str, kept: int) -> Calls:
    """With fencepost."""
    import fencepost

    client = fencepost.connect(address.url)
    payments = client.idempotency(scope, lease=10, retention=kept)

    @payments.once(key=lambda order: order["id"])
    def pay(order: Order) -> str:
        return RESULT

    return Calls(scope, kept, pay)


def powertools_calls(address: Address, scope: str, kept: int) -> Calls:
    """With Powertools for AWS Lambda, and its layer for caches."""
    import redis
    from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig, idempotent_function
    from aws_lambda_powertools.utilities.idempotency.persistence.redis import RedisCachePersistenceLayer

    client = redis.Redis(host=address.host, port=address.port, decode_responses=True)
    config = IdempotencyConfig(expires_after_seconds=kept)
    # Powertools reads the function's deadline from it.
    config.register_lambda_context(_Context())

    @idempotent_function(  # type: ignore[untyped-decorator]
        data_keyword_argument="order",
        persistence_store=RedisCachePersistenceLayer(client=client),
        config=config,
    )
    def pay(*, order: Order) -> str:
        return RESULT

    return Calls(scope, kept, lambda order: str(pay(order=order)))


class _Context:
    """The context that Lambda passes to a function."""

    def get_remaining_time_in_millis(self) -> int:
        """How long it may still run."""
        return 10_000
