"""The grants of the client for threads."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._engine.contender import Contender, State
from ..errors import FencepostError
from .arguments import Duration
from .base_grant import GIVEN_BACK, BaseGrant, BaseHold, note
from .calls import Calls
from .ending import Ending


class Hold(BaseHold):
    """The common base of grants and claims in the client for threads."""

    __slots__ = ("_client", "_lost")

    def __init__(self, client: Calls, contender: Contender) -> None:
        super().__init__(client._engine, contender)
        self._client = client
        self._lost: threading.Event | None = None

    @property
    def lost(self) -> threading.Event:
        """An event that the client sets when the grant ends without a release: ``grant.lost.is_set()``,
        ``grant.lost.wait(timeout)``.
        """
        self._engine.check_process()
        if self._lost is None:
            with self._engine.order:
                if self._lost is None:
                    lost = threading.Event()
                    self._contender.on_loss.append(lost.set)
                    self._lost = lost
        if self._contender.state is State.LOST:
            self._lost.set()
        return self._lost

    def extend(self) -> None:
        """Renews the lease for its full duration from now on. Returns when the server has confirmed it.
        Raises LockLost, MisuseError.
        """
        self._client._extend(self._contender)

    def _leave(self, error: BaseException | None) -> None:
        """Called at the end of the block, with its exception or None."""
        raise NotImplementedError

    def _exit(self, kind: Any = None, error: Any = None, trace: Any = None) -> None:
        """Ends the block."""
        self._leave(error)

    if TYPE_CHECKING:

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None: ...

    else:
        __exit__ = Ending(_exit, BaseHold._forsake)


class Grant(Hold, BaseGrant):
    """The right to hold a lock. As a context manager it releases the lock at the end of the block."""

    __slots__ = ()

    def wait_revoke_requested(self, timeout: Duration | None = None) -> bool:
        """Waits for a revocation request, and returns True. Returns False if the grant ends or the time is up
        before a request arrives.
        """
        return self._client._wait_revoke_requested(self._contender, timeout)

    def downgrade(self) -> None:
        """ZooKeeper: turns a writer's grant into a reader's in one step. Waiting readers get the lock as
        well. Waiting writers get it only after this grant is released, too. The grant keeps its fence.

        If an owner has several grants of the writer, downgrade each of them. Readers get the lock when all
        are downgraded or released. Returns when the server has confirmed it. Raises LockLost; MisuseError
        (``not-a-writer``) for a reader's grant, for any other kind, and for a second downgrade; Refused if
        the server refuses: then the grant is still a writer's.
        """
        self._client._downgrade(self._contender)

    def release(self) -> None:
        """Releases the lock. Returns when the server has confirmed it. If an owner has several grants, only
        the release of the last one releases the lock; for the others this returns at once.

        Raises LockLost if the grant was lost before, MisuseError (``not-held``) if it was released before,
        and ReleaseUnconfirmed if the server does not reply within 5 seconds. Then the client continues the
        release in the background.
        """
        self._client._release(self._contender)

    def __enter__(self) -> Grant:
        """Enters the block. If the grant is lost already, the block runs and raises LockLost at its end, as
        after a later loss. To prevent that, check :attr:`is_valid` first.
        """
        self._engine.check()
        return self

    def _leave(self, error: BaseException | None) -> None:
        try:
            self._engine.check_process()
            if self._contender.state not in GIVEN_BACK:
                self.release()
        except FencepostError as failure:
            # The body's own exception is more important: the failure becomes a note on it.
            if error is None:
                raise
            note(error, failure)
