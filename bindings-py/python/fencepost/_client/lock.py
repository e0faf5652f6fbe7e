"""Locks and grants of the client for threads."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING

from .._engine.contender import Contender, State
from .._fencepost import Settings
from ..errors import FencepostError, LockLost, NotAcquired
from .arguments import Duration, patience
from .base_grant import BaseGrant
from .inspection import Found, Subject
from .noncopyable import Unique
from .read_write_lock import Pair
from .scope import End, Scopes, enter, leave

if TYPE_CHECKING:
    from .client import Client


class _Scoped(Unique):
    """A context manager: each block that enters it has its own grant."""

    __slots__ = ("__weakref__", "_scopes")

    def __init__(self, single: bool) -> None:
        self._scopes = Scopes(single)

    def _obtain(self) -> Grant:
        """The grant of a block that is entered."""
        raise NotImplementedError

    if TYPE_CHECKING:

        def __enter__(self) -> Grant: ...

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None: ...

    else:
        __enter__, __exit__ = End(enter, False), End(leave, True)


class Lock(_Scoped):
    """A name with settings, made by :meth:`Client.lock`. Each acquire is a new contender.

    ``with lock as grant`` waits for the lock, and releases it at the end of the block. :meth:`hold` does the
    same with a timeout. Blocks may end in any order and in any thread: each block releases its own grant.
    """

    __slots__ = ("_client", "_settings", "_subject", "name")

    def __init__(
        self,
        client: Client,
        name: str,
        checked: Settings,
        subject: Subject,
    ) -> None:
        self.name = name
        self._subject = subject
        self._client = client
        self._settings = checked
        super().__init__(single=False)

    def acquire(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until the lock is granted, for at most ``timeout`` (seconds or a timedelta) if that is given.

        Gives None if another contender held the lock for all that time. With ``blocking=False`` it does not
        wait, and gives None if another contender holds the lock. Every other failure is an exception:
        Refused, ConfigError or MisuseError. It raises LockLost if the server granted the lock and the grant
        ended before the answer reached this client. After None or an exception this call holds nothing.
        """
        try:
            return self._client._acquire(self, patience(timeout, blocking))
        except NotAcquired:
            return None

    def hold(self, timeout: Duration | None = None, *, blocking: bool = True) -> Scope:
        """A context manager that acquires with a timeout: ``with lock.hold(timeout=0.2) as grant``.

        Entering it raises NotAcquired where :meth:`acquire` would give None. Make one for each block.
        """
        return Scope(self, patience(timeout, blocking))

    def contenders(self) -> list[Found]:
        """ZooKeeper: lists the lock's holders and waiters, in the order in which they came.

        The list is for people and tools. It can be out of date as soon as it is returned, so do not decide
        by it who may use the resource. Raises Refused; ConfigError on Redis.
        """
        return self._client._inspect(self._subject, "list")

    def revoke(self, contender: Found) -> None:
        """ZooKeeper: sends a contender a revocation request, in Curator's format.

        The holder sees the request in :attr:`Grant.revoke_requested`. It may release the lock or keep it.
        Raises Refused (``no-contender``) if the contender no longer exists; ConfigError for a contender of
        another lock.
        """
        self._client._inspect(self._subject, "revoke", contender)

    def break_contender(self, contender: Found) -> None:
        """ZooKeeper: deletes a contender's node. A holder loses the lock; a waiter enters the queue again.

        The holder learns of its loss within a third of its session timeout. Until then another contender may
        hold the lock too, so only the fence protects the resource. Raises the same errors as :meth:`revoke`.
        """
        self._client._inspect(self._subject, "break", contender)

    def _obtain(self) -> Grant:
        grant = self.acquire()
        assert grant is not None, "without a limit there is no end to the waiting"
        return grant

    def __repr__(self) -> str:
        return f"<fencepost.{type(self).__name__} {self.name!r}>"


class Election(Lock):
    """An election, made by :meth:`Client.election`. One candidate leads at a time, in the order in which the
    candidates came.

    A grant is a term: it lasts until the leader releases it or loses it.
    """

    __slots__ = ()

    def campaign(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until this candidate leads. The same as :meth:`acquire`."""
        return self.acquire(timeout, blocking=blocking)


class ReadWriteLock(Pair[Lock]):
    __doc__ = Pair.__doc__

    __slots__ = ()


class Scope(_Scoped):
    """An acquire and a release around a block. Make one with :meth:`Lock.hold` for each block.

    A block may enter it again after the last block has left it. Entering it while it is open raises
    MisuseError (``busy``).
    """

    __slots__ = ("_lock", "_wait")

    def __init__(self, lock: Lock, wait: int | bool) -> None:
        super().__init__(single=True)
        self._lock = lock
        self._wait = wait

    def _obtain(self) -> Grant:
        return self._lock._client._acquire(self._lock, self._wait)

    def __repr__(self) -> str:
        return f"<fencepost.Scope of {self._lock.name!r}>"


class Grant(BaseGrant):
    """The right to hold a lock. As a context manager it releases the lock at the end of the block."""

    __slots__ = ("_client", "_lost")

    def __init__(self, client: Client, contender: Contender) -> None:
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

    def wait_revoke_requested(self, timeout: Duration | None = None) -> bool:
        """Waits for a revocation request, and gives True. Gives False if the grant ends or the time is up
        before a request comes.
        """
        return self._client._wait_revoke_requested(self._contender, timeout)

    def extend(self) -> None:
        """Renews the lease, so that it lasts its full time from now on. Returns when the server has confirmed
        that. Raises LockLost, MisuseError.
        """
        self._client._extend(self._contender)

    def downgrade(self) -> None:
        """ZooKeeper: turns a writer's grant into a reader's in one step. Waiting readers get the lock as
        well. Waiting writers go on waiting until this grant is released, too. The grant keeps its fence.

        If an owner has several grants of the writer, downgrade each of them. Readers get the lock when all
        are downgraded or released. Returns when the server has confirmed it. Raises LockLost; MisuseError
        (``not-a-writer``) for a reader's grant, for any other kind, and for a second downgrade; Refused if
        the server refuses: the grant is a writer's as before.
        """
        self._client._downgrade(self._contender)

    def release(self) -> None:
        """Releases the lock. Returns when the server has confirmed it. If an owner has several grants, only
        the release of the last one releases the lock; for the others this returns at once.

        Raises LockLost if the grant was lost before, MisuseError (``not-held``) if it was released before,
        and ReleaseUnconfirmed if the server does not answer within 5 seconds. The release goes on in the
        background then.
        """
        self._client._release(self._contender)

    def __enter__(self) -> Grant:
        self._engine.check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """The block has ended, with or without an exception."""
        try:
            self._engine.check_process()
            if self._contender.state not in _GIVEN_BACK:
                self.release()
        except FencepostError as trouble:
            # The body's own exception is more important: the trouble becomes a note on it.
            if error is None:
                raise
            note(error, trouble)


_GIVEN_BACK = frozenset({State.RELEASED, State.RELEASING, State.CLOSED})


def note(error: BaseException, trouble: Exception) -> None:
    """Adds a note about the lock to the exception of a block's body."""
    if hasattr(error, "add_note"):
        kind = "lost" if isinstance(trouble, LockLost) else "not released properly"
        error.add_note(f"fencepost: the lock was {kind}: {trouble}")
