"""Kazoo's semaphore."""

from __future__ import annotations

from typing import Any

from kazoo.exceptions import NoNodeError

from ._recipe import Recipe, identifiers


class Semaphore(Recipe):
    """Kazoo's semaphore, on the same nodes. A separate node has the number of leases as its data."""

    _KIND = "semaphore"
    _REACQUIRED = True

    def __init__(self, client: Any, path: str, identifier: object = None, max_leases: int = 1) -> None:
        self.max_leases = max_leases
        self.lock_path = f"{path}-__lock__"
        super().__init__(client, path, identifier)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Waits until this object holds a lease, and returns True. ``timeout`` limits the whole wait, in
        seconds; connecting is included.

        Returns True at once if this object holds a valid lease. If another thread acquires or releases with
        this object, the call waits for that first. While the connection is lost, it waits until the client
        knows whether the lease is still valid. Returns False if ``blocking`` is False and no lease is free.
        Raises LockTimeout, CancelledError, kazoo's errors, and ValueError if the server has another
        ``max_leases``.
        """
        return self._acquire(bool(blocking), timeout)

    def lease_holders(self) -> list[str]:
        """The identifiers of the holders. Only the oldest nodes are holders: the first waiter makes its node
        before it gets a lease.
        """
        try:
            children = self.client.get_children(self.path)
        except NoNodeError:
            return []
        return identifiers(self.client, self.path, children, self.max_leases)

    def _options(self) -> dict[str, object]:
        return {"permits": self.max_leases}
