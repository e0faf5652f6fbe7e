"""Locks and grants of the client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from .._contender import Hold, State
from .._fencepost import Settings
from .._grant import BaseGrant
from .._inspection import Found, Subject
from .._lock import note
from .._owners import Ownership
from .._pair import Pair
from .._scope import End, Scopes
from .._unique import Unique
from .._values import Duration, patience
from ..errors import FencepostError, NotAcquired
from ._scope import enter, leave

if TYPE_CHECKING:
    from ._client import Client


class _Scoped(Unique):
    """What an ``async with`` statement enters: every block has a grant of its own."""

    __slots__ = ("__weakref__", "_scopes")

    def __init__(self, single: bool) -> None:
        self._scopes = Scopes(single)

    async def _obtain(self) -> Grant:
        """The grant of a block that is entered."""
        raise NotImplementedError

    if TYPE_CHECKING:

        async def __aenter__(self) -> Grant: ...

        async def __aexit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None: ...

    else:
        __aenter__, __aexit__ = End(enter, False), End(leave, True)


class Lock(_Scoped):
    """A name with settings. Made by :meth:`Client.lock`; every acquire is a contender of its own.

    ``async with lock as grant`` waits for the lock and releases it; :meth:`hold` does the same with a limit.
    Blocks may end in any order and in any task: each releases what it has acquired.
    """

    __slots__ = ("_cancels", "_client", "_ownership", "_settings", "_subject", "name")

    def __init__(
        self,
        client: Client,
        name: str,
        checked: Settings,
        subject: Subject,
        ownership: Ownership | None,
        cancels: bool,
    ) -> None:
        self.name = name
        self._subject = subject
        self._client = client
        self._settings = checked
        self._ownership = ownership
        self._cancels = cancels
        super().__init__(single=False)

    async def acquire(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until the lock is granted, for at most ``timeout`` (seconds or a timedelta) if that is given.

        None when somebody else held the lock all the time; with ``blocking=False``, when somebody else holds
        it. Everything else that goes wrong is an exception: Refused, ConfigError, MisuseError; and LockLost,
        if the lock was granted, but over before this client heard so. Nothing is held then. Cancelling
        withdraws the contender.
        """
        return await self._client._acquire(self, patience(timeout, blocking))

    def hold(self, timeout: Duration | None = None, *, blocking: bool = True) -> Scope:
        """A context manager that acquires with a limit: ``async with lock.hold(timeout=0.2) as grant``.
        Raises NotAcquired.
        """
        return Scope(self, patience(timeout, blocking))

    async def contenders(self) -> list[Found]:
        """ZooKeeper: who holds the lock, and who waits, first come, first: for people and tools, as it may be
        otherwise by the time it is read. Raises Refused; ConfigError on Redis.
        """
        return await self._client._inspect(self._subject, "list")

    async def revoke(self, contender: Found) -> None:
        """ZooKeeper: asks a contender for the lock, in Curator's way.

        It is told (:attr:`Grant.revoke_requested`), and may give the lock back or keep it. Raises Refused
        (``no-contender``) if it is not there any more; ConfigError for one of another lock.
        """
        await self._client._inspect(self._subject, "revoke", contender)

    async def break_contender(self, contender: Found) -> None:
        """ZooKeeper: takes a contender's place from it: a holder loses the lock, a waiter begins anew.

        A holder hears of it a third of its session's timeout later at the latest, and somebody else holds the
        lock meanwhile: only its fence keeps it from doing harm. Raises what :meth:`revoke` raises.
        """
        await self._client._inspect(self._subject, "break", contender)

    async def _obtain(self) -> Grant:
        grant = await self.acquire()
        assert grant is not None, "without a limit there is no end to the waiting"
        return await grant.__aenter__()

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.{type(self).__name__} {self.name!r}>"


class Election(Lock):
    """An election: candidates lead one after another, in the order in which they came. Made by
    :meth:`Client.election`.

    A grant is a term: it lasts until it is released, or lost.
    """

    __slots__ = ()

    async def campaign(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until this candidate leads: :meth:`acquire`, under the name that elections have for it."""
        return await self.acquire(timeout, blocking=blocking)


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

    async def _obtain(self) -> Grant:
        lock = self._lock
        grant = await lock._client._acquire(lock, self._wait)
        if grant is None:
            tried = self._wait is False
            code, name = (302, "not-available") if tried else (301, "timeout")
            raise NotAcquired(f"{lock.name}: somebody else holds the lock", code, name)
        return await grant.__aenter__()

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Scope of {self._lock.name!r}>"


class Grant(BaseGrant):
    """The right to hold a lock. As an asynchronous context manager it is released at the end of the block."""

    __slots__ = ("_body", "_cancels", "_client", "_lost")

    def __init__(self, client: Client, hold: Hold, cancels: bool) -> None:
        super().__init__(client._engine, hold)
        self._client = client
        self._cancels = cancels
        self._lost: asyncio.Event | None = None
        self._body: Body | None = None

    @property
    def lost(self) -> asyncio.Event:
        """Set once the grant has ended without a release: ``grant.lost.is_set()``, ``await
        grant.lost.wait()``.
        """
        self._engine.check_process()
        if self._lost is None:
            self._lost = asyncio.Event()
            self._on_loss(self._lost.set)
        if self._hold.state is State.LOST:
            self._lost.set()
        return self._lost

    async def wait_revoke_requested(self, timeout: Duration | None = None) -> bool:
        """Waits until somebody would like to have the lock (True), or until the grant or the time is over."""
        return await self._client._wait_revoke_requested(self._hold, timeout)

    async def extend(self) -> None:
        """Makes the grant last from now on; returns when the server has confirmed it. Raises LockLost,
        MisuseError.
        """
        await self._client._extend(self._hold)

    async def downgrade(self) -> None:
        """ZooKeeper: turns a writer's grant into a reader's without giving it up in between: readers that
        wait get in, and nobody writes before this grant is released, too. It keeps its fence.

        Of several grants of one owner each becomes a reader's by itself, and the lock is shared when all
        have, or were released. Returns when the server has confirmed it. Raises MisuseError
        (``not-a-writer``) for any other grant and the second time, LockLost, and Refused, when the grant
        stays as it was.
        """
        await self._client._downgrade(self._hold)

    async def release(self) -> None:
        """Gives the lock back; returns when the server has confirmed it. Of several grants of one owner the
        last does; the others return at once.

        Raises LockLost if there was nothing left to give back, MisuseError if it was released before, and
        ReleaseUnconfirmed after 5 seconds without an answer. A release that is cancelled goes on in the
        background.
        """
        await self._client._release(self._hold)

    async def __aenter__(self) -> Grant:
        self._engine.check()
        if self._cancels and self._body is None:
            self._body = Body()
            self._on_loss(self._body.lost)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave(error)

    async def _leave(self, error: BaseException | None) -> None:
        """The block has ended, perhaps with an error."""
        body, self._body = self._body, None
        if body is not None and await body.end(error):
            raise self._contender.error() from (self._contender.cause or error)
        try:
            self._engine.check_process()
            if self._hold.state not in _GIVEN_BACK:
                await self.release()
        except FencepostError as trouble:
            # The body's own exception is the one to see.
            if error is None:
                raise
            note(error, trouble)

    def _on_loss(self, callback: Callable[[], object]) -> None:
        with self._engine.order:
            if self._hold.state is not State.LOST:
                self._hold.on_loss.append(callback)
                return
        callback()


class Body:
    """The block of an ``async with``, cancelled by a loss as ``asyncio.timeout`` cancels its own."""

    __slots__ = ("_before", "_cancelled", "_task")

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._before = _cancelling(self._task)
        self._cancelled = False

    def lost(self) -> None:
        """Cancels the block, unless it has ended. Called on the loop."""
        # A task that runs at this moment closes the client itself: it hears of it when it leaves the block.
        if self._cancelled or self._task is None:
            return
        if self._task is not asyncio.current_task():
            self._cancelled = True
            self._task.cancel()

    async def end(self, error: BaseException | None) -> bool:
        """The block has ended; whether its end is our cancellation and nobody else's."""
        task, self._task = self._task, None
        if task is None or not self._cancelled or task is not asyncio.current_task():
            return False
        uncancel = getattr(task, "uncancel", None)  # Python 3.11
        others = uncancel() > self._before if uncancel is not None else False
        if error is None:
            # The block ended before it was told. What is still to come must not hit the code behind it.
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if others:
                    raise
        return isinstance(error, asyncio.CancelledError) and not others


_GIVEN_BACK = frozenset({State.RELEASED, State.RELEASING, State.CLOSED})


def _cancelling(task: asyncio.Task[object] | None) -> int:
    cancelling = getattr(task, "cancelling", None)  # Python 3.11
    return 0 if cancelling is None else int(cancelling())
