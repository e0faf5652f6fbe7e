"""The client for asyncio: locks and grants that any task of one loop may use and share."""

from __future__ import annotations

import asyncio
import warnings
from functools import partial
from types import TracebackType

from .._client.arguments import Duration, positive
from .._client.client import CONNECT_WITHIN
from .._client.connect import server_of
from .._engine.closing import CONFIRM_WITHIN, incomplete
from .._engine.loop_engine import LoopEngine, running_loop
from .._engine.loop_timer import LoopTimer, within
from ..errors import FencepostError
from ._connect import AsyncDriver, choose, choose_by_address
from ._kinds import Kinds


def connect(url: str, *, connect_timeout: Duration = CONNECT_WITHIN) -> Client:
    """A client of the server at ``url``, for the running loop: ``async with fencepost.asyncio.connect(url) as
    client``.

    Addresses and ``connect_timeout`` are those of :func:`fencepost.connect`. This call does not wait: the
    first acquire waits for the connection.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix, connect_timeout)


class Client(Kinds):
    """Locks on one connection. :func:`connect` makes a client. Or pass your own ``KazooClient`` or
    ``redis.asyncio.Redis`` to this class.

    The client never closes your own connection. :meth:`close` removes the listeners that the client added to
    it. ``prefix``, for ZooKeeper, is the path below which the locks are. ``connect_timeout`` is that of
    :func:`fencepost.connect`; with None, only an acquire's own timeout limits how long it waits for the first
    connection. A client belongs to the loop on which it was made. Use it as a context manager, or close it.
    """

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
                engine.unreported = engine.unconfirmed
                timer.stop()
                driver.drop()

        engine.dispose = dispose
        self._engine = engine
        self._closing = asyncio.Lock()
        self._ended = False
        """Whether a close has ended."""
        engine.start(timer)

    async def close(self) -> None:
        """Releases all grants and cancels all waiting acquires. Waits at most 5 seconds for the server's
        replies. If the task is cancelled, the close continues in the background.

        A grant that is held ends as lost: the client sets its ``lost`` and cancels its block, which raises
        LockLost. Raises CleanupIncomplete if the server may still have nodes or keys of this client. A second
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
                    engine.shut_down(partial(engine.settle, idle))
                    await within(idle, CONFIRM_WITHIN)
                except BaseException:
                    engine.close_in_background(CONFIRM_WITHIN)
                    raise
                engine.disposed = True
                engine.unreported = engine.unconfirmed
                engine.timer.stop()
            await self._driver.close(max(0.0, end - engine.loop.time()))
            engine.reporter.close(max(0.0, end - engine.loop.time()))
            self._ended = True
            left, engine.unreported = engine.unreported, 0
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
        if engine is None or (engine.closed and not engine.outlived):
            return
        try:
            engine.check_process()
        except Exception:
            return
        if not engine.closed:
            engine.orphan()
        warnings.warn(f"unclosed {self!r}: use `with`, or call close()", ResourceWarning, 2, source=self)

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Client of {self._driver.describe()}>"


__all__ = ["Client", "connect"]
