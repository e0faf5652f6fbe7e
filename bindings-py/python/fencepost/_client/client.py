"""The client for threads: locks and grants that any thread may use and share."""

from __future__ import annotations

import threading
import time
import warnings
from types import TracebackType

from .._engine.closing import CONFIRM_WITHIN, incomplete
from .._engine.engine import Engine
from .._engine.reentrancy import may_wait
from .._engine.timer import ThreadTimer
from .._engine.waiter import Waiter
from ..errors import FencepostError
from .arguments import Duration, positive
from .connect import SyncDriver, choose, choose_by_address, server_of
from .kinds import Kinds

CONNECT_WITHIN = 5.0
"""The time for which an acquire waits for the first connection, in seconds."""


def connect(url: str, *, connect_timeout: Duration = CONNECT_WITHIN) -> Client:
    """A client of the server at ``url``.

    Addresses are ``memory:`` and ``memory:NAME?session_timeout=MILLISECONDS`` (a server inside this process),
    ``zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MILLISECONDS``,
    ``redis://USER:PASSWORD@HOST:PORT/DATABASE`` and ``rediss://…?ca=PATH`` (TLS: the client checks the
    server's certificate).

    This call does not wait. The client connects in the background, and the first acquire waits for the
    connection, for at most ``connect_timeout`` (seconds or a timedelta). If there is none by then, the
    acquire raises Refused (``unreachable``). Raises ConfigError for an address that is not valid.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix, connect_timeout)


class Client(Kinds):
    """Locks on one connection. :func:`connect` makes a client. Or pass your own ``KazooClient`` or
    ``redis.Redis`` to this class.

    The client never closes your own connection. :meth:`close` removes the listeners that the client added to
    it. ``prefix``, for ZooKeeper, is the path below which the locks are. ``connect_timeout`` is that of
    :func:`connect`; with None, only an acquire's own timeout limits how long it waits for the first
    connection. Use the client as a context manager, or close it.
    """

    def __init__(
        self, connection: object, *, prefix: str = "", connect_timeout: Duration | None = CONNECT_WITHIN
    ) -> None:
        self._begin(*choose(connection, prefix), connect_timeout)

    @classmethod
    def _of(cls, driver: SyncDriver, prefix: str, connect_timeout: Duration) -> Client:
        client = cls.__new__(cls)
        client._begin(driver, prefix, connect_timeout)
        return client

    def _begin(self, driver: SyncDriver, prefix: str, connect_timeout: Duration | None) -> None:
        within = None if connect_timeout is None else positive("connect_timeout", connect_timeout)
        self._prefix = prefix
        self._driver = driver
        self._server = server_of(driver)
        engine = Engine(driver.hub, driver, within)
        timer = ThreadTimer(engine)
        closing = threading.RLock()

        def dispose(within: float = CONFIRM_WITHIN) -> None:
            # The thread that closes this client calls this, or the timer's thread.
            if closing.acquire(blocking=False):
                try:
                    if not engine.disposed:
                        end = time.monotonic() + within
                        engine.unreported = engine.unconfirmed
                        driver.close(within)
                        engine.reporter.close(max(0.0, end - time.monotonic()))
                        # Last: if this is interrupted earlier, the timer's thread does the rest.
                        timer.stop()
                        engine.disposed = True
                finally:
                    closing.release()

        engine.dispose = dispose
        self._engine = engine
        self._closing = closing
        engine.start(timer)

    def close(self) -> None:
        """Releases all grants and cancels all waiting acquires. Waits at most 5 seconds for the server's
        replies and the handlers of logging.

        A grant that is held ends as lost: the client sets its ``lost``, and its block raises LockLost. Raises
        CleanupIncomplete if the server may still have nodes or keys of this client. A second close, at the
        same time or later, waits until the first has ended, and does not raise that error again. If the first
        close was interrupted, the second one finishes it.
        """
        engine = self._engine
        engine.check_process()
        engine.check_threads(self._closing)
        if not may_wait():
            engine.orphan()
            return
        with self._closing:
            end = time.monotonic() + CONFIRM_WITHIN
            if not engine.disposed:
                try:
                    idle = Waiter()
                    engine.shut_down(idle.wake)
                    idle.wait(CONFIRM_WITHIN)
                    engine.dispose(max(0.0, end - time.monotonic()))
                except BaseException:
                    engine.close_in_background(CONFIRM_WITHIN)
                    raise
            left, engine.unreported = engine.unreported, 0
        if left:
            raise incomplete(left)

    @property
    def closed(self) -> bool:
        """Whether the client has been closed."""
        return self._engine.closed

    def __enter__(self) -> Client:
        self._engine.check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
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
        return f"<fencepost.Client of {self._driver.describe()}>"


__all__ = ["Client", "connect"]
