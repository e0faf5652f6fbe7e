"""What grants of both clients have in common: everything that needs no waiting."""

from __future__ import annotations

from ._contender import OVER, Contender, Hold
from ._engine import Engine
from ._unique import Unique


class BaseGrant(Unique):
    """The right to hold a lock, from its acquire to its release or loss. Any thread or task may use it."""

    __slots__ = ("__weakref__", "_engine", "_hold")

    def __init__(self, engine: Engine, hold: Hold) -> None:
        self._engine = engine
        self._hold = hold

    @property
    def _contender(self) -> Contender:
        return self._hold.contender

    @property
    def name(self) -> str:
        """The lock's name."""
        return self._contender.name

    @property
    def fence(self) -> int | None:
        """The number of this grant; it grows with every grant of the lock.

        Present it to the resource, which refuses a lower one than it has seen: that is what makes a lock
        safe. None where the server cannot give one.
        """
        return self._contender.fence

    @property
    def is_valid(self) -> bool:
        """Whether the lock is held for certain, by this client's clock alone: right also straight after a
        suspend.
        """
        self._engine.check_process()
        return self._hold.is_valid()

    def remaining(self) -> float | None:
        """For how many seconds the grant is valid unless it is renewed; 0.0 once it is over, None if there is
        no lease.
        """
        self._engine.check_process()
        return self._hold.remaining()

    @property
    def revoke_requested(self) -> bool:
        """Whether somebody would like to have the lock (ZooKeeper: Curator's ``Revoker``, or ours).

        It is a wish: release the grant soon, or keep it. Locks with ``revocable=True`` hear of it at once,
        others a third of the session's timeout after the grant at the latest.
        """
        return self._contender.revoke_requested

    @property
    def mixed_layouts(self) -> str | None:
        """The node of a contender of another layout that was found in the lock's directory: it cannot see
        ours, and may be granted the lock as well.
        """
        return self._contender.mixed_layouts

    def __repr__(self) -> str:
        contender = self._contender
        fence = "" if contender.fence is None else f", fence {contender.fence}"
        return f"<{type(self).__name__} of {contender.name!r}, {self._hold.state.value}{fence}>"

    def __del__(self) -> None:
        hold = getattr(self, "_hold", None)
        if hold is not None and hold.state not in OVER:
            try:
                self._engine.check_process()
            except Exception:
                return  # It is the other process's to release.
            self._engine.orphan(hold)
