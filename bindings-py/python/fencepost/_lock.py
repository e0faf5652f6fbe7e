"""Locks and grants of the client for threads."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING

from ._contender import Hold, State
from ._fencepost import Settings
from ._grant import BaseGrant
from ._inspection import Found, Subject
from ._owners import Ownership
from ._pair import Pair
from ._scope import End, Scopes, enter, leave
from ._unique import Unique
from ._values import Duration, patience
from .errors import FencepostError, LockLost, NotAcquired

if TYPE_CHECKING:
    from ._client import Client


class _Scoped(Unique):
    """What a ``with`` statement enters: every block has a grant of its own."""

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
    """A name with settings. Made by :meth:`Client.lock`; every acquire is a contender of its own.

    ``with lock as grant`` waits for the lock and releases it; :meth:`hold` does the same with a limit. Blocks
    may end in any order and in any thread: each releases what it has acquired.
    """

    __slots__ = ("_client", "_ownership", "_settings", "_subject", "name")

    def __init__(
        self,
        client: Client,
        name: str,
        checked: Settings,
        subject: Subject,
        ownership: Ownership | None = None,
    ) -> None:
        self.name = name
        self._subject = subject
        self._client = client
        self._settings = checked
        self._ownership = ownership
        super().__init__(single=False)

    def acquire(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until the lock is granted, for at most ``timeout`` (seconds or a timedelta) if that is given.

        None when somebody else held the lock all the time; with ``blocking=False``, when somebody else holds
        it. Everything else that goes wrong is an exception: Refused, ConfigError, MisuseError; and LockLost,
        if the lock was granted, but over before this client heard so. Nothing is held then.
        """
        return self._client._acquire(self, patience(timeout, blocking))

    def hold(self, timeout: Duration | None = None, *, blocking: bool = True) -> Scope:
        """A context manager that acquires with a limit: ``with lock.hold(timeout=0.2) as grant``. Raises
        NotAcquired.
        """
        return Scope(self, patience(timeout, blocking))

    def contenders(self) -> list[Found]:
        """ZooKeeper: who holds the lock, and who waits, first come, first: for people and tools, as it may be
        otherwise by the time it is read. Raises Refused; ConfigError on Redis.
        """
        return self._client._inspect(self._subject, "list")

    def revoke(self, contender: Found) -> None:
        """ZooKeeper: asks a contender for the lock, in Curator's way.

        It is told (:attr:`Grant.revoke_requested`), and may give the lock back or keep it. Raises Refused
        (``no-contender``) if it is not there any more; ConfigError for one of another lock.
        """
        self._client._inspect(self._subject, "revoke", contender)

    def break_contender(self, contender: Found) -> None:
        """ZooKeeper: takes a contender's place from it: a holder loses the lock, a waiter begins anew.

        A holder hears of it a third of its session's timeout later at the latest, and somebody else holds the
        lock meanwhile: only its fence keeps it from doing harm. Raises what :meth:`revoke` raises.
        """
        self._client._inspect(self._subject, "break", contender)

    def _obtain(self) -> Grant:
        grant = self.acquire()
        assert grant is not None, "without a limit there is no end to the waiting"
        return grant

    def __repr__(self) -> str:
        return f"<fencepost.{type(self).__name__} {self.name!r}>"


class Election(Lock):
    """An election: candidates lead one after another, in the order in which they came. Made by
    :meth:`Client.election`.

    A grant is a term: it lasts until it is released, or lost.
    """

    __slots__ = ()

    def campaign(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until this candidate leads: :meth:`acquire`, under the name that elections have for it."""
        return self.acquire(timeout, blocking=blocking)


class ReadWriteLock(Pair[Lock]):
    __doc__ = Pair.__doc__

    __slots__ = ()


class Scope(_Scoped):
    """An acquire and a release around a block. Made by :meth:`Lock.hold`, one for each block.

    It may be entered again when it was left; before, that is a MisuseError (``busy``).
    """

    __slots__ = ("_lock", "_wait")

    def __init__(self, lock: Lock, wait: int | bool) -> None:
        super().__init__(single=True)
        self._lock = lock
        self._wait = wait

    def _obtain(self) -> Grant:
        lock = self._lock
        grant = lock._client._acquire(lock, self._wait)
        if grant is None:
            tried = self._wait is False
            code, name = (302, "not-available") if tried else (301, "timeout")
            raise NotAcquired(f"{lock.name}: somebody else holds the lock", code, name)
        return grant

    def __repr__(self) -> str:
        return f"<fencepost.Scope of {self._lock.name!r}>"


class Grant(BaseGrant):
    """The right to hold a lock. As a context manager it is released at the end of the block."""

    __slots__ = ("_client", "_lost")

    def __init__(self, client: Client, hold: Hold) -> None:
        super().__init__(client._engine, hold)
        self._client = client
        self._lost: threading.Event | None = None

    @property
    def lost(self) -> threading.Event:
        """Set once the grant has ended without a release: ``grant.lost.is_set()``,
        ``grant.lost.wait(timeout)``.
        """
        self._engine.check_process()
        if self._lost is None:
            with self._engine.order:
                if self._lost is None:
                    lost = threading.Event()
                    self._hold.on_loss.append(lost.set)
                    self._lost = lost
        if self._hold.state is State.LOST:
            self._lost.set()
        return self._lost

    def wait_revoke_requested(self, timeout: Duration | None = None) -> bool:
        """Waits until somebody would like to have the lock (True), or until the grant or the time is over."""
        return self._client._wait_revoke_requested(self._hold, timeout)

    def extend(self) -> None:
        """Makes the grant last from now on; returns when the server has confirmed it. Raises LockLost,
        MisuseError.
        """
        self._client._extend(self._hold)

    def downgrade(self) -> None:
        """ZooKeeper: turns a writer's grant into a reader's without giving it up in between: readers that
        wait get in, and nobody writes before this grant is released, too. It keeps its fence.

        Of several grants of one owner each becomes a reader's by itself, and the lock is shared when all
        have, or were released. Returns when the server has confirmed it. Raises MisuseError
        (``not-a-writer``) for any other grant and the second time, LockLost, and Refused, when the grant
        stays as it was.
        """
        self._client._downgrade(self._hold)

    def release(self) -> None:
        """Gives the lock back; returns when the server has confirmed it. Of several grants of one owner the
        last does; the others return at once.

        Raises LockLost if there was nothing left to give back, MisuseError if it was released before, and
        ReleaseUnconfirmed after 5 seconds without an answer.
        """
        self._client._release(self._hold)

    def __enter__(self) -> Grant:
        self._engine.check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """The block has ended, perhaps with an error."""
        try:
            self._engine.check_process()
            if self._hold.state not in _GIVEN_BACK:
                self.release()
        except FencepostError as trouble:
            # The body's own exception is the one to see.
            if error is None:
                raise
            note(error, trouble)


_GIVEN_BACK = frozenset({State.RELEASED, State.RELEASING, State.CLOSED})


def note(error: BaseException, trouble: FencepostError) -> None:
    """Adds to a body's exception what went wrong with its lock."""
    if hasattr(error, "add_note"):
        kind = "lost" if isinstance(trouble, LockLost) else "not released properly"
        error.add_note(f"fencepost: the lock was {kind}: {trouble}")
