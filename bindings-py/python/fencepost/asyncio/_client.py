"""The client for asyncio: locks and grants that any task of one loop may use and share."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from functools import partial
from types import TracebackType

from .._client import CONNECT_WITHIN
from .._closing import CONFIRM_WITHIN
from .._connect import family_of
from .._contender import Contender, Hold, State, Until, decided, over, turned
from .._inspection import Found, Subject, found
from .._owners import ownership
from .._values import Duration, OnLost, micros, positive, settings, unreadable
from ..errors import CleanupIncomplete, FencepostError, NotAcquired, ReleaseUnconfirmed
from ._connect import AsyncDriver, choose, choose_by_address
from ._kinds import AnyLock, Kinds
from ._lock import Grant, Lock
from ._loop import Alarm, LoopEngine, LoopTimer, running_loop, settle


def connect(url: str, *, connect_timeout: Duration = CONNECT_WITHIN) -> Client:
    """A client of the server at ``url``, for the running loop: ``async with fencepost.asyncio.connect(url) as
    client``.

    Addresses and ``connect_timeout`` are those of :func:`fencepost.connect`. Nothing is waited for:
    connecting is part of the patience of an acquire.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix, connect_timeout)


class Client(Kinds):
    """Locks on one connection. Made by :func:`connect`, or on a ``KazooClient`` or ``redis.asyncio.Redis`` of
    your own.

    Your own connection is never closed, and what was hung into it is removed on :meth:`close`. ``prefix``,
    for ZooKeeper: the path below which the locks lie. A client belongs to the loop it was made on. Use it as
    a context manager, or close it.
    """

    _engine: LoopEngine

    def __init__(
        self, connection: object, *, prefix: str = "", connect_timeout: Duration | None = CONNECT_WITHIN
    ) -> None:
        self._begin(*choose(connection, prefix), connect_timeout)

    @classmethod
    def _of(cls, driver: AsyncDriver, prefix: str, connect_timeout: Duration) -> Client:
        client = cls.__new__(cls)
        client._begin(driver, prefix, connect_timeout)
        return client

    def _begin(self, driver: AsyncDriver, prefix: str, connect_timeout: Duration | None) -> None:
        within = None if connect_timeout is None else positive("connect_timeout", connect_timeout)
        loop = running_loop()
        self._prefix = prefix
        self._driver = driver
        self._family = family_of(driver)
        engine = LoopEngine(driver.hub, driver, loop, within)
        timer = LoopTimer(engine)

        def dispose() -> None:
            if not engine.disposed:
                engine.disposed = True
                timer.stop()
                driver.drop()

        engine.dispose = dispose
        self._engine = engine
        engine.start(timer)

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
        on_lost: OnLost,
        owner: str | None = None,
    ) -> AnyLock:
        if on_lost not in ("cancel", "keep"):
            raise unreadable(f'on_lost is {on_lost!r}: give "cancel" or "keep"')
        self._engine.check_process()
        checked = settings(self._family, self._prefix, kind, name, options)
        subject = Subject(self._family, self._prefix, kind, name, options)
        return lock(self, name, checked, subject, ownership(kind, name, owner), on_lost == "cancel")

    async def close(self) -> None:
        """Releases all grants, gives all waiting acquires up, and waits at most 5 seconds for the server's
        answers. Cancelled, it goes on in the background.

        Grants that are held are lost by it: their ``lost`` is set, their blocks are cancelled and raise
        LockLost. Closing again does nothing. Raises CleanupIncomplete if something had to be left.
        """
        engine = self._engine
        engine.check_process()
        engine.check_loop()
        if engine.disposed:
            return
        idle = engine.loop.create_future()
        end = engine.loop.time() + CONFIRM_WITHIN
        try:
            engine.shut(partial(engine.settle, idle))
            await _within(idle, CONFIRM_WITHIN)
        except BaseException:
            engine.leave(CONFIRM_WITHIN)
            raise
        left = engine.left
        engine.disposed = True
        engine.timer.stop()
        await self._driver.close(max(0.0, end - engine.loop.time()))
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

    async def _acquire(self, lock: Lock, wait: int | bool) -> Grant | None:
        engine = self._engine
        engine.check()
        hold = Hold(Contender(lock.name, lock._subject.kind, lock._ownership))
        try:
            engine.enter(hold, lock._settings, wait, False)
            contender = hold.contender
            await self._wait(contender, decided)
            contender.warn()
            if hold.state is State.HELD:
                return Grant(self, hold, lock._cancels)
        except BaseException:
            engine.abandon(hold)
            raise
        error = contender.error()
        if isinstance(error, NotAcquired):
            return None
        raise error

    async def _inspect(self, subject: Subject, action: str, contender: Found | None = None) -> list[Found]:
        checked = subject.settings(action, contender)
        engine = self._engine
        engine.check()
        look = Contender(subject.name)
        hold = Hold(look)
        try:
            engine.enter(hold, checked, False, False)
            await self._wait(look, decided)
        except BaseException:
            engine.abandon(hold)
            raise
        if look.state is not State.FOUND:
            raise look.error()
        return found(look.event)

    async def _release(self, hold: Hold) -> None:
        engine, contender = self._engine, hold.contender
        if hold.state is not State.LOST:
            engine.check()
        until = engine.release(hold, False)
        if until is not None and not await self._wait(contender, until, CONFIRM_WITHIN):
            raise ReleaseUnconfirmed(
                f"{contender.name}: the server has not confirmed the release; it goes on in the background"
            )
        error: Exception | None = None
        if until is turned:
            error = contender.why_not_downgraded()
        elif until is over and contender.state is not State.RELEASED:
            error = contender.error()
        if error is not None:
            raise error

    async def _downgrade(self, hold: Hold) -> None:
        engine, contender = self._engine, hold.contender
        if hold.state is not State.LOST:
            engine.check()
        until = engine.downgrade(hold, False)
        if until is None:
            return
        await self._wait(contender, until)
        error = contender.why_not_downgraded()
        if error is not None:
            if contender.state is State.HELD:
                engine.restore(hold)
            raise error

    async def _extend(self, hold: Hold) -> None:
        engine, contender = self._engine, hold.contender
        if hold.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.extend(hold, False)
        await self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if hold.state is not State.HELD:
            raise engine.why_not_held(hold)

    async def _wait_revoke_requested(self, hold: Hold, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        await self._wait(
            hold.contender,
            lambda contender: contender.revoke_requested or hold.state is not State.HELD,
            limit,
        )
        return hold.contender.revoke_requested

    async def _wait(self, contender: Contender, until: Until, limit: float | None = None) -> bool:
        """Waits until that is so. False: the time is up."""
        engine = self._engine
        loop = engine.loop
        end = None if limit is None else loop.time() + limit
        while True:
            future = loop.create_future()
            with engine.order:
                if until(contender):
                    return True
                contender.waiters.append(partial(engine.settle, future))
            if end is None:
                await future
            elif not await _within(future, end - loop.time()):
                return until(contender)


async def _within(future: asyncio.Future[bool], seconds: float) -> bool:
    """Waits for a future; False: the time is up."""
    handle = Alarm(future.get_loop(), seconds, partial(settle, future, False))
    try:
        return await future
    finally:
        handle.cancel()


__all__ = ["Client", "connect"]
