"""Kazoo's election."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kazoo.exceptions import CancelledError

from ._lock import Lock


class Election:
    """An election: kazoo's, on the same nodes. ``lock.lost`` and ``lock.is_acquired`` tell a leader of the
    end of its term.
    """

    def __init__(self, client: Any, path: str, identifier: object = None) -> None:
        self.lock = Lock(client, path, identifier)

    def run(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Waits until this candidate leads, and calls the function then; its term ends with the function.

        Returns when the function has, or when the candidacy was cancelled. Raises what the function raises.
        """
        if not callable(func):
            raise ValueError("leader function is not callable")
        try:
            with self.lock:
                func(*args, **kwargs)
        except CancelledError:
            pass

    def cancel(self) -> None:
        """Withdraws a candidacy that waits. A leader leads on."""
        self.lock.cancel()

    def contenders(self) -> list[str]:
        """What the candidates say of themselves, in the order of the line."""
        return self.lock.contenders()
