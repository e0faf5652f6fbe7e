"""The client for asyncio: locks and grants that any task of one loop may use and share."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from functools import partial
from types import TracebackType

from .._client import CONFIRM_WITHIN, note
from .._contender import Contender, State
from .._fencepost import Settings
from .._grant import BaseGrant
from .._values import Duration, patience, settings, unreadable
from ..errors import CleanupIncomplete, FencepostError, LockLost, NotAcquired, ReleaseUnconfirmed
from ._connect import AsyncDriver, choose, choose_by_address
from ._loop import LoopEngine, LoopTimer, settle


def connect(url: str) -> Client:
    """A client of the server at ``url``, for the running loop: ``async with fencepost.asyncio.connect(url) as
    client``.

    Addresses are those of :func:`fencepost.connect`. Nothing is waited for: connecting is part of the
    patience of the first acquire.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix)


class Client:
    """Locks on one connection. Made by :func:`connect`, or on a ``KazooClient`` or ``redis.asyncio.Redis`` of
    your own.

    Your own connection is never closed, and what was hung into it is removed on :meth:`close`. ``prefix``,
    for ZooKeeper: the path below which the locks lie. A client belongs to the loop it was made on. Use it as
    a context manager, or close it.
    """

    _engine: LoopEngine

    def __init__(self, connection: object, *, prefix: str = "") -> None:
        self._begin(*choose(connection, prefix))

    @classmethod
    def _of(cls, driver: AsyncDriver, prefix: str) -> Client:
        client = cls.__new__(cls)
        client._begin(driver, prefix)
        return client

    def _begin(self, driver: AsyncDriver, prefix: str) -> None:
        loop = asyncio.get_running_loop()
        self._prefix = prefix
        self._driver = driver
        self._family = driver.hub.family
        engine = LoopEngine(driver.hub, driver, loop)
        timer = LoopTimer(engine)

        def dispose() -> None:
            timer.stop()
            driver.drop()

        engine.dispose = dispose
        self._engine = engine
        engine.start(timer)

    def lock(
        self,
        name: str,
        *,
        ttl: Duration | None = None,
        renew: bool | None = None,
        max_hold: Duration | None = None,
        margin: Duration | None = None,
        poll: Duration | None = None,
        answer_within: Duration | None = None,
        on_lost: str = "cancel",
    ) -> Lock:
        """A lock: a name with checked settings. It sends nothing and is cheap; tasks share it freely.

        Options are those of :meth:`fencepost.Client.lock`, and ``on_lost``: what becomes of the body of an
        ``async with`` whose grant is lost. ``"cancel"``: it is cancelled, as ``asyncio.timeout`` does it, and
        LockLost is raised; ``"keep"``: it runs on, and LockLost is raised at its end. Raises ConfigError.
        """
        if on_lost not in ("cancel", "keep"):
            raise unreadable(f'on_lost is {on_lost!r}: give "cancel" or "keep"')
        self._engine.check_process()
        checked = settings(
            self._family,
            name,
            prefix=self._prefix,
            renew=renew,
            ttl=ttl,
            max_hold=max_hold,
            margin=margin,
            poll=poll,
            answer_within=answer_within,
        )
        return Lock(self, name, checked, on_lost == "cancel")

    async def close(self) -> None:
        """Releases all grants, gives all waiting acquires up, and waits at most 5 seconds for the server's
        answers.

        Closing again does nothing. Raises CleanupIncomplete if something had to be left.
        """
        engine = self._engine
        engine.check_process()
        idle = engine.loop.create_future()
        if not engine.shut(partial(engine.settle, idle)):
            return
        try:
            await _within(idle, CONFIRM_WITHIN)
        finally:
            left = engine.hub.pending
            engine.timer.stop()
            await self._driver.close()
        if left:
            raise CleanupIncomplete(
                f"{left} contenders were left on the server: they go with their leases or session", count=left
            )

    @property
    def closed(self) -> bool:
        """Whether the client was closed."""
        return self._engine.closed

    async def __aenter__(self) -> Client:
        self._engine.check()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except FencepostError:
            if error is None:
                raise

    def __del__(self) -> None:
        engine = getattr(self, "_engine", None)
        if engine is None or engine.closed:
            return
        try:
            engine.check_process()
        except Exception:
            return
        engine.orphan()
        warnings.warn(f"unclosed {self!r}: use `with`, or close it", ResourceWarning, 2, source=self)

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Client of {self._driver.describe()}>"

    # What locks and grants do.

    async def _acquire(self, name: str, checked: Settings, wait: int | bool, cancels: bool) -> Grant | None:
        engine = self._engine
        engine.check()
        contender = Contender(name)
        try:
            engine.enter(contender, checked, wait, False)
            await self._wait(contender, _decided)
            if contender.state is State.HELD:
                return Grant(self, contender, cancels)
        except BaseException:
            engine.abandon(contender)
            raise
        error = contender.error()
        if isinstance(error, NotAcquired):
            return None
        raise error

    async def _release(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.ask(contender, engine.hub.release, State.RELEASING, False)
        if not await self._wait(contender, _over, CONFIRM_WITHIN):
            raise ReleaseUnconfirmed(
                f"{contender.name}: the server has not confirmed the release; it goes on in the background"
            )
        if contender.state is not State.RELEASED:
            raise contender.error()

    async def _extend(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.ask(contender, engine.hub.extend, State.HELD, False)
        await self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    async def _wait(
        self, contender: Contender, over: Callable[[Contender], bool], limit: float | None = None
    ) -> bool:
        """Waits until that is so. False: the time is up."""
        engine = self._engine
        loop = engine.loop
        end = None if limit is None else loop.time() + limit
        while True:
            future = loop.create_future()
            with engine.order:
                if over(contender):
                    return True
                contender.waiters.append(partial(engine.settle, future))
            if end is None:
                await future
            elif not await _within(future, end - loop.time()):
                return over(contender)


class Lock:
    """A name with settings. Made by :meth:`Client.lock`; every acquire is a contender of its own.

    ``async with lock as grant`` waits for the lock and releases it; :meth:`hold` does the same with a limit.
    """

    __slots__ = ("_cancels", "_client", "_scopes", "_settings", "name")

    def __init__(self, client: Client, name: str, checked: Settings, cancels: bool) -> None:
        self.name = name
        self._client = client
        self._settings = checked
        self._cancels = cancels
        self._scopes: dict[asyncio.Task[object] | None, list[Scope]] = {}

    async def acquire(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until the lock is granted, for at most ``timeout`` (seconds or a timedelta) if that is given.

        None when somebody else held the lock all the time; with ``blocking=False``, when somebody else holds
        it. Everything else that goes wrong is an exception: Refused, ConfigError, MisuseError. Cancelling
        withdraws the contender.
        """
        return await self._client._acquire(
            self.name, self._settings, patience(timeout, blocking), self._cancels
        )

    def hold(self, timeout: Duration | None = None, *, blocking: bool = True) -> Scope:
        """A context manager that acquires with a limit: ``async with lock.hold(timeout=0.2) as grant``.
        Raises NotAcquired.
        """
        return Scope(self, patience(timeout, blocking))

    async def __aenter__(self) -> Grant:
        scope = Scope(self, True)
        grant = await scope.__aenter__()
        self._scopes.setdefault(asyncio.current_task(), []).append(scope)
        return grant

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = asyncio.current_task()
        scopes = self._scopes[task]
        scope = scopes.pop()
        if not scopes:
            del self._scopes[task]
        await scope.__aexit__(kind, error, trace)

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Lock {self.name!r}>"


class Scope:
    """An acquire and a release around a block. Made by :meth:`Lock.hold`."""

    __slots__ = ("_grant", "_lock", "_wait")

    def __init__(self, lock: Lock, wait: int | bool) -> None:
        self._lock = lock
        self._wait = wait

    async def __aenter__(self) -> Grant:
        lock = self._lock
        grant = await lock._client._acquire(lock.name, lock._settings, self._wait, lock._cancels)
        if grant is None:
            tried = self._wait is False
            code, name = (302, "not-available") if tried else (301, "timeout")
            raise NotAcquired(f"{lock.name}: somebody else holds the lock", code, name)
        self._grant = grant
        return await grant.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._grant.__aexit__(kind, error, trace)


class Grant(BaseGrant):
    """The right to hold a lock. As an asynchronous context manager it is released at the end of the block."""

    __slots__ = ("_body", "_cancels", "_client", "_lost")

    def __init__(self, client: Client, contender: Contender, cancels: bool) -> None:
        super().__init__(client._engine, contender)
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
        if self._contender.state is State.LOST:
            self._lost.set()
        return self._lost

    async def extend(self) -> None:
        """Makes the grant last from now on; returns when the server has confirmed it. Raises LockLost,
        MisuseError.
        """
        await self._client._extend(self._contender)

    async def release(self) -> None:
        """Gives the lock back; returns when the server has confirmed it.

        Raises LockLost if there was nothing left to give back, MisuseError if it was released before, and
        ReleaseUnconfirmed after 5 seconds without an answer. A release that is cancelled goes on in the
        background.
        """
        await self._client._release(self._contender)

    async def __aenter__(self) -> Grant:
        self._engine.check()
        if self._cancels:
            self._body = Body()
            self._on_loss(self._body.lost)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.check_process()
        body, self._body = self._body, None
        if body is not None and await body.end(error):
            raise self._contender.error() from (self._contender.cause or error)
        if self._contender.state in _GIVEN_BACK:
            return
        try:
            await self.release()
        except FencepostError as trouble:
            # The body's own exception is the one to see.
            if error is None:
                raise
            note(error, trouble)

    def _on_loss(self, callback: Callable[[], object]) -> None:
        with self._engine.order:
            if self._contender.state is not State.LOST:
                self._contender.on_loss.append(callback)
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
        if self._task is not None:
            self._cancelled = True
            self._task.cancel()

    async def end(self, error: BaseException | None) -> bool:
        """The block has ended; whether its end is our cancellation and nobody else's."""
        task, self._task = self._task, None
        if task is None or not self._cancelled:
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


def _decided(contender: Contender) -> bool:
    return contender.state is not State.WAITING


def _over(contender: Contender) -> bool:
    return contender.is_over


async def _within(future: asyncio.Future[bool], seconds: float) -> bool:
    """Waits for a future; False: the time is up."""
    handle = future.get_loop().call_later(max(0.0, seconds), settle, future, False)
    try:
        return await future
    finally:
        handle.cancel()


__all__ = ["Client", "Grant", "Lock", "LockLost", "Scope", "connect"]
