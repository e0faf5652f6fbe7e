"""The client for asyncio: locks and grants that any task of one loop may use and share."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from functools import partial
from types import TracebackType

from .._client.arguments import Duration, OnLost, check, micros, positive, settings, shown, unreadable
from .._client.client import CONNECT_WITHIN
from .._client.connect import server_of
from .._client.inspection import Found, Subject, found
from .._engine.closing import CONFIRM_WITHIN, incomplete
from .._engine.contender import Contender, State, Until, decided, over, turned
from .._engine.loop_engine import Alarm, LoopEngine, LoopTimer, running_loop, settle
from ..errors import FencepostError, ReleaseUnconfirmed
from ..hub._clock import now
from ._connect import AsyncDriver, choose, choose_by_address
from ._kinds import AnyLock, Kinds
from ._lock import Grant, Lock


def connect(url: str, *, connect_timeout: Duration = CONNECT_WITHIN) -> Client:
    """A client of the server at ``url``, for the running loop: ``async with fencepost.asyncio.connect(url) as
    client``.

    Addresses and ``connect_timeout`` are those of :func:`fencepost.connect`. This call does not wait: the
    first acquire waits for the connection.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix, connect_timeout)


class Client(Kinds):
    """Locks on one connection. :func:`connect` makes a client; or give this class your own ``KazooClient`` or
    ``redis.asyncio.Redis``.

    The client never closes your own connection. :meth:`close` removes the listeners that the client added to
    it. ``prefix``, for ZooKeeper, is the path below which the locks are. ``connect_timeout`` is that of
    :func:`fencepost.connect`; with None, only an acquire's own timeout limits how long it waits for the first
    connection. A client belongs to the loop on which it was made. Use it as a context manager, or close it.
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
        self._server = server_of(driver)
        engine = LoopEngine(driver.hub, driver, loop, within)
        timer = LoopTimer(engine)

        def dispose() -> None:
            if not engine.disposed:
                engine.disposed = True
                engine.untold = engine.left
                timer.stop()
                driver.drop()

        engine.dispose = dispose
        self._engine = engine
        self._closing = asyncio.Lock()
        self._ended = False
        """Whether a close has ended."""
        engine.start(timer)

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
        on_lost: OnLost,
    ) -> AnyLock:
        if on_lost not in ("cancel", "keep"):
            raise unreadable(f'on_lost is {on_lost!r}, which is not known: give "cancel" or "keep"')
        self._engine.check_open()
        raw = settings(self._server, self._prefix, kind, name, options)
        return lock(self, name, check(raw), Subject(name, raw), on_lost == "cancel")

    async def close(self) -> None:
        """Releases all grants and cancels all waiting acquires. Waits at most 5 seconds for the server's
        answers. If the task is cancelled, the close goes on in the background.

        A grant that is held ends as lost: the client sets its ``lost`` and cancels its block, which raises
        LockLost. Raises CleanupIncomplete if the server may still hold something of this client. A second
        close, at the same time or later, waits until the first has ended, and does not raise that error
        again. If the first close was cancelled, the second one finishes it.
        """
        engine = self._engine
        engine.check_process()
        engine.check_loop()
        async with self._closing:
            if self._ended:
                return
            end = engine.loop.time() + CONFIRM_WITHIN
            if not engine.disposed:
                idle = engine.loop.create_future()
                try:
                    engine.shut(partial(engine.settle, idle))
                    await _within(idle, CONFIRM_WITHIN)
                except BaseException:
                    engine.leave(CONFIRM_WITHIN)
                    raise
                engine.disposed = True
                engine.untold = engine.left
                engine.timer.stop()
            await self._driver.close(max(0.0, end - engine.loop.time()))
            self._ended = True
            left, engine.untold = engine.untold, 0
        if left:
            raise incomplete(left)

    @property
    def closed(self) -> bool:
        """Whether the client has been closed."""
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
        warnings.warn(f"unclosed {self!r}: use `with`, or call close()", ResourceWarning, 2, source=self)

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Client of {self._driver.describe()}>"

    # The calls of locks and grants.

    async def _acquire(self, lock: Lock, wait: int | bool) -> Grant:
        """A grant. Raises NotAcquired if another contender holds the lock."""
        engine = self._engine
        engine.check()
        begun, left = now(), wait
        while True:
            contender = Contender(lock.name)
            try:
                engine.enter(contender, lock._settings, left, False)
                await self._wait(contender, decided)
                contender.warn()
                if engine.take(contender):
                    return Grant(self, contender, lock._cancels)
            except BaseException:
                engine.abandon(contender)
                raise
            if contender.state is not State.RELEASED:
                break
            # The loop stood still for too long, and the engine has released the grant. So this call queues
            # again, or tries once more when the time is up.
            if not isinstance(wait, bool):
                rest = wait - (now() - begun)
                left = rest if rest > 0 else False
        raise contender.error()

    async def _inspect(self, subject: Subject, action: str, contender: Found | None = None) -> list[Found]:
        checked = subject.settings(action, contender)
        engine = self._engine
        engine.check()
        look = Contender(subject.name)
        try:
            engine.enter(look, checked, False, False)
            await self._wait(look, decided)
        except BaseException:
            engine.abandon(look)
            raise
        if look.state is not State.FOUND:
            raise look.error()
        return found(look.event)

    async def _release(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.release(contender, False)
        if not await self._wait(contender, over, CONFIRM_WITHIN):
            raise ReleaseUnconfirmed(
                f"{shown(contender.name)}: the server has not confirmed the release within "
                f"{CONFIRM_WITHIN:g} s. The client goes on in the background; until the server confirms it, "
                "other clients may wait"
            )
        if contender.state is not State.RELEASED:
            raise contender.error()

    async def _downgrade(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.downgrade(contender, False)
        await self._wait(contender, turned)
        error = contender.why_not_downgraded()
        if error is not None:
            raise error

    async def _extend(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.extend(contender, False)
        await self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    async def _wait_revoke_requested(self, contender: Contender, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        await self._wait(
            contender,
            lambda contender: contender.revoke_requested or contender.state is not State.HELD,
            limit,
        )
        return contender.revoke_requested

    async def _wait(self, contender: Contender, until: Until, limit: float | None = None) -> bool:
        """Waits until that is true. Gives False if the time is up."""
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
    """Waits for a future. Gives False if the time is up."""
    handle = Alarm(future.get_loop(), seconds, partial(settle, future, False))
    try:
        return await future
    finally:
        handle.cancel()


__all__ = ["Client", "connect"]
