"""Kazoo's semaphore."""

from __future__ import annotations

from typing import Any

from kazoo.exceptions import NoNodeError

from ._contest import Contest, identifiers


class Semaphore(Contest):
    """A semaphore: kazoo's, on the same nodes. Its number of leases is the data of its own node."""

    _KIND = "semaphore"
    _REACQUIRED = True

    def __init__(self, client: Any, path: str, identifier: object = None, max_leases: int = 1) -> None:
        self.max_leases = max_leases
        self.lock_path = f"{path}-__lock__"
        super().__init__(client, path, identifier)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Waits until a lease is held (True), for at most ``timeout`` seconds, connecting and all included.

        True at once if this object holds one for certain. What another thread acquires or gives back with
        this object is waited for, and so is the end of a suspension. False: there is none, and ``blocking``
        is False. Raises LockTimeout, CancelledError, kazoo's errors, and ValueError if the server has another
        ``max_leases``.
        """
        return self._acquire(bool(blocking), timeout)

    def lease_holders(self) -> list[str]:
        """The identifiers of the holders. The first waiter makes its node before its turn, so the oldest
        nodes are those of the holders.
        """
        try:
            children = self.client.get_children(self.path)
        except NoNodeError:
            return []
        return identifiers(self.client, self.path, children, self.max_leases)

    def _options(self) -> dict[str, object]:
        return {"permits": self.max_leases}
