"""The locks of the client for asyncio."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from .._client.arguments import Duration, acquire_timeout
from .._client.inspection import Found, Subject, found
from .._client.noncopyable import Noncopyable
from .._client.read_write_lock import BaseReadWriteLock
from .._client.scope import End, Scopes
from .._engine.contender import Contender, State, decided
from .._fencepost import Settings
from ..errors import NotAcquired
from ..hub._clock import now
from ._calls import Calls, rest
from ._grant import Grant
from ._scope import enter, leave


class _Scoped(Noncopyable):
    """A context manager: each block that enters it has its own grant."""

    __slots__ = ("__weakref__", "_scopes")

    def __init__(self, single: bool) -> None:
        self._scopes = Scopes(single)

    async def _obtain(self) -> Grant:
        """Acquires the grant for a block."""
        raise NotImplementedError

    if TYPE_CHECKING:

        async def __aenter__(self) -> Grant: ...

        async def __aexit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None: ...

    else:
        __aenter__, __aexit__ = End(enter, False), End(leave, True)


class Lock(_Scoped):
    """A name with settings, made by :meth:`Client.lock`. Each acquire is a new contender.

    ``async with lock as grant`` waits for the lock, and releases it at the end of the block. :meth:`hold`
    does the same with a timeout. Blocks may end in any order and in any task: each block releases its own
    grant.
    """

    __slots__ = ("_cancels", "_client", "_settings", "_subject", "name")

    def __init__(
        self,
        client: Calls,
        name: str,
        checked: Settings,
        subject: Subject,
        cancels: bool,
    ) -> None:
        self.name = name
        self._subject = subject
        self._client = client
        self._settings = checked
        self._cancels = cancels
        super().__init__(single=False)

    async def acquire(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until the lock is granted, for at most ``timeout`` (seconds or a timedelta) if that is given.

        Returns None if another contender held the lock for all that time. With ``blocking=False`` it does not
        wait, and returns None if another contender holds the lock. Every other failure is an exception:
        Refused, ConfigError or MisuseError. It raises LockLost if the server granted the lock and the grant
        ended before the reply reached this client. After None or an exception the caller does not hold the
        lock. If the task is cancelled, the contender leaves the queue.
        """
        try:
            return await self._acquire(acquire_timeout(timeout, blocking))
        except NotAcquired:
            return None

    def hold(self, timeout: Duration | None = None, *, blocking: bool = True) -> Scope:
        """A context manager that acquires with a timeout: ``async with lock.hold(timeout=0.2) as grant``.

        Entering it raises NotAcquired where :meth:`acquire` would return None. Make one for each block.
        """
        return Scope(self, acquire_timeout(timeout, blocking))

    async def contenders(self) -> list[Found]:
        """Lists the lock's holders and waiters, in the order of their arrival. Redis stores no waiters, so
        there the list is the holder.

        The list is for people and tools. It can be out of date as soon as it is returned, so do not use it to
        decide which client may use the resource. Raises Refused; ConfigError for a multi-lock.
        """
        return await self._inspect("list")

    async def revoke(self, contender: Found) -> None:
        """ZooKeeper: sends a contender a revocation request, in Curator's format.

        The holder sees the request in :attr:`Grant.revoke_requested`. It may release the lock or keep it.
        Raises Refused (``no-contender``) if the contender no longer exists; ConfigError for a contender of
        another lock, and on Redis, where a holder does not receive requests.
        """
        await self._inspect("revoke", contender)

    async def break_contender(self, contender: Found) -> None:
        """Deletes a contender from the lock. A holder loses the lock; a waiter enters the queue again.

        The holder learns of its loss within a third of its session timeout or of its lease. Until then
        another contender may hold the lock too, so only the fence protects the resource. Raises Refused
        (``no-contender``) if the contender no longer exists; ConfigError for a contender of another lock.
        """
        await self._inspect("break", contender)

    async def _obtain(self) -> Grant:
        grant = await self.acquire()
        assert grant is not None, "an acquire without a limit returned None"
        return await grant.__aenter__()

    async def _acquire(self, wait: int | bool) -> Grant:
        """A grant. Raises NotAcquired if another contender holds the lock."""
        client = self._client
        engine = client._engine
        engine.check()
        begun, left = now(), wait
        while True:
            contender = Contender(self.name)
            try:
                engine.enter(contender, self._settings, left, False)
                await client._wait(contender, decided)
                contender.warn()
                if engine.take(contender):
                    return Grant(client, contender, self._cancels)
            except BaseException:
                engine.abandon(contender)
                raise
            if contender.state is not State.RELEASED:
                break
            left = rest(wait, begun)
        raise contender.error()

    async def _inspect(self, action: str, contender: Found | None = None) -> list[Found]:
        checked = self._subject.settings(action, contender)
        client = self._client
        engine = client._engine
        engine.check()
        look = Contender(self._subject.name)
        try:
            engine.enter(look, checked, False, False)
            await client._wait(look, decided)
        except BaseException:
            engine.abandon(look)
            raise
        if look.state is not State.FOUND:
            raise look.error()
        return found(look.event)

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.{type(self).__name__} {self.name!r}>"


class Election(Lock):
    """An election, made by :meth:`Client.election`. One candidate leads at a time, in the order of their
    arrival.

    A grant is a term: it lasts until the leader releases it or loses it.
    """

    __slots__ = ()

    async def campaign(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until this candidate leads. The same as :meth:`acquire`."""
        return await self.acquire(timeout, blocking=blocking)


class ReadWriteLock(BaseReadWriteLock[Lock]):
    __doc__ = BaseReadWriteLock.__doc__

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

    async def _obtain(self) -> Grant:
        grant = await self._lock._acquire(self._wait)
        return await grant.__aenter__()

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Scope of {self._lock.name!r}>"
