"""The part of a grant that is the same in both clients: everything that does not wait."""

from __future__ import annotations

import os

from .._engine.contender import Contender, State
from .._engine.engine import Engine
from ..errors import LockLost
from .noncopyable import Noncopyable

GIVEN_BACK = frozenset({State.RELEASED, State.RELEASING, State.CLOSED})
"""The states in which the program no longer holds the lock."""


class BaseHold(Noncopyable):
    """The common base of grants and claims."""

    __slots__ = ("__weakref__", "_contender", "_engine")

    def __init__(self, engine: Engine, contender: Contender) -> None:
        self._engine = engine
        self._contender = contender

    @property
    def name(self) -> str:
        """The lock's name; for a claim, ``SCOPE/KEY``."""
        return self._contender.name

    @property
    def fence(self) -> int | None:
        """The number of this grant. It grows with every exclusive grant of the lock.

        Send it to the resource with every request. The resource refuses a fence that is lower than the
        highest one it has seen. Without this check no lock is safe: a client that was paused may continue
        after its grant has ended. None if the server cannot give a fence.
        """
        return self._contender.fence

    @property
    def is_valid(self) -> bool:
        """Whether the grant is valid at this moment. The client reads its own clock and sends no request. The
        value is also right just after the computer has woken from sleep. False while the connection is lost.
        """
        self._engine.check_process()
        return self._contender.is_valid()

    def remaining(self) -> float | None:
        """The number of seconds until the grant ends, if the client does not renew it. 0.0 if the grant is
        not valid; None if it has no lease.
        """
        self._engine.check_process()
        return self._contender.remaining()

    def __repr__(self) -> str:
        contender = self._contender
        fence = "" if contender.fence is None else f", fence {contender.fence}"
        return f"<{type(self).__name__} of {contender.name!r}, {contender.state.value}{fence}>"

    def __del__(self) -> None:
        contender = getattr(self, "_contender", None)
        if contender is not None and not self._has_ended(contender):
            try:
                self._engine.check_process()
            except Exception:
                return  # Only the process that made the client may release the grant.
            self._engine.orphan(contender)

    def _forsake(self, *_: object) -> None:
        """Releases the grant after an interrupt has ended its block, perhaps before the release."""
        if self._contender.state is State.HELD and os.getpid() == self._engine.pid:
            self._engine.orphan(self._contender)

    def _has_ended(self, contender: Contender) -> bool:
        return contender.is_over


class BaseGrant(BaseHold):
    """The right to hold a lock, from the acquire to the release or loss. Any thread or task may use it."""

    __slots__ = ()

    @property
    def revoke_requested(self) -> bool:
        """Whether another program has sent a revocation request (ZooKeeper: with :meth:`Lock.revoke`, or with
        Curator's ``Revoker``).

        The holder may release the grant or keep it. With ``revocable=True`` the client sees a request at
        once, otherwise with the next confirmation of its session.
        """
        return self._contender.revoke_requested

    @property
    def mixed_layouts(self) -> str | None:
        """The node of a contender of another layout, if the client found one in the lock's directory. That
        contender does not see this one, and may get the lock as well. None if the client found none.
        """
        return self._contender.mixed_layouts


def note(error: BaseException, failure: Exception, what: str = "lock") -> None:
    """Adds a note about the lock to the exception of a block's body."""
    if hasattr(error, "add_note"):
        kind = "lost" if isinstance(failure, LockLost) else "not released properly"
        error.add_note(f"fencepost: the {what} was {kind}: {failure}")
