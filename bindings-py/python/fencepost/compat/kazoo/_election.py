"""Kazoo's election."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kazoo.exceptions import CancelledError

from ._lock import Lock


class Election:
    """Kazoo's election, on the same nodes. A leader learns of the end of its term by ``lock.lost`` and
    ``lock.is_acquired``.
    """

    def __init__(self, client: Any, path: str, identifier: object = None) -> None:
        self.lock = Lock(client, path, identifier)

    def run(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Waits until this candidate leads, and then calls the function. The term ends when the function
        returns.

        Returns after the function, or when the candidacy was cancelled. Raises what the function raises.
        """
        if not callable(func):
            raise ValueError(f"func is {func!r}, which is not callable: give a function")
        try:
            with self.lock:
                func(*args, **kwargs)
        except CancelledError:
            pass

    def cancel(self) -> None:
        """Cancels a candidacy that waits. If this candidate leads, its term continues."""
        self.lock.cancel()

    def contenders(self) -> list[str]:
        """The identifiers of the candidates, in the order of the queue."""
        return self.lock.contenders()
