"""The client for threads: locks and grants that any thread may use and share."""

from __future__ import annotations

import threading
import time
import warnings
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import starmap
from types import TracebackType
from typing import TypeVar

from .._engine.closing import CONFIRM_WITHIN, incomplete
from .._engine.contender import Contender, State, Until, decided, over, turned
from .._engine.engine import Engine
from .._engine.reentrancy import may_wait
from .._engine.timer import LATE, TURN, ThreadTimer
from .._fencepost import Command
from ..errors import FencepostError, MisuseError, ReleaseUnconfirmed
from .arguments import Duration, check, micros, positive, settings, shown
from .connect import SyncDriver, choose, choose_by_address, server_of
from .inspection import Found, Subject, found
from .kinds import AnyLock, Kinds
from .lock import Grant, Lock

CONNECT_WITHIN = 5.0
"""The time for which an acquire waits for the first connection, in seconds."""

ONCE = ((),)
"""The arguments of one call without any."""

Given = TypeVar("Given")


def to_the_end(verb: Callable[[Client, Contender], Given]) -> Callable[[Client, Contender], Given]:
    """Decorates a method that asks something of a grant. If the thread is interrupted, the driver takes over
    its commands.
    """

    @wraps(verb)
    def carried(client: Client, contender: Contender) -> Given:
        try:
            return verb(client, contender)
        except Exception:
            raise
        except BaseException:
            client._engine.hand_over(contender)
            raise

    return carried


def connect(url: str, *, connect_timeout: Duration = CONNECT_WITHIN) -> Client:
    """A client of the server at ``url``.

    Addresses are ``memory:`` and ``memory:NAME`` (a server inside this process),
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
    """Locks on one connection. :func:`connect` makes a client; or give this class your own ``KazooClient`` or
    ``redis.Redis``.

    The client never closes your own connection. :meth:`close` removes the listeners that the client added to
    it. ``prefix``, for ZooKeeper, is the path below which the locks are. ``connect_timeout`` is that of
    :func:`connect`; with None, only an acquire's own timeout limits how long it waits for the first
    connection. Use the client as a context manager, or close it.
    """

    _engine: Engine

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
                        engine.untold = engine.left
                        driver.close(within)
                        timer.stop()
                        engine.disposed = True
                finally:
                    closing.release()

        engine.dispose = dispose
        self._engine = engine
        self._closing = closing
        engine.start(timer)

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
    ) -> AnyLock:
        self._engine.check()
        raw = settings(self._server, self._prefix, kind, name, options)
        return lock(self, name, check(raw), Subject(name, raw))

    def close(self) -> None:
        """Releases all grants and cancels all waiting acquires. Waits at most 5 seconds for the server's
        answers.

        A grant that is held ends as lost: the client sets its ``lost``, and its block raises LockLost. Raises
        CleanupIncomplete if the server may still hold something of this client. A second close, at the same
        time or later, waits until the first has ended, and does not raise that error again. If the first
        close was interrupted, the second one finishes it.
        """
        engine = self._engine
        engine.check_process()
        if not may_wait():
            engine.orphan()
            return
        with self._closing:
            end = time.monotonic() + CONFIRM_WITHIN
            if not engine.disposed:
                try:
                    idle = Waiter()
                    engine.shut(idle.wake)
                    idle.wait(CONFIRM_WITHIN)
                    engine.dispose(max(0.0, end - time.monotonic()))
                except BaseException:
                    engine.leave(CONFIRM_WITHIN)
                    raise
            left, engine.untold = engine.untold, 0
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

    # The calls of locks and grants.

    def _acquire(self, lock: Lock, wait: int | bool) -> Grant:
        """A grant. Raises NotAcquired if another contender holds the lock."""
        engine = self._engine
        engine.check()
        contender = Contender(lock.name)
        try:
            engine.enter(contender, lock._settings, wait, self._driver.inline)
            self._wait(contender, decided)
            contender.warn()
            if contender.state is State.HELD:
                return Grant(self, contender)
        except BaseException:
            engine.abandon(contender)
            raise
        raise contender.error()

    def _inspect(self, subject: Subject, action: str, contender: Found | None = None) -> list[Found]:
        checked = subject.settings(action, contender)
        engine = self._engine
        engine.check()
        look = Contender(subject.name)
        try:
            engine.enter(look, checked, False, self._driver.inline)
            self._wait(look, decided)
        except BaseException:
            engine.abandon(look)
            raise
        if look.state is not State.FOUND:
            raise look.error()
        return found(look.event)

    @to_the_end
    def _release(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        if not may_wait():
            if contender.state is not State.HELD:
                raise engine.why_not_held(contender)
            contender.state = State.RELEASED  # The next tick releases it.
            engine.orphan(contender)
            return
        engine.release(contender, self._driver.inline)
        if not self._wait(contender, over, CONFIRM_WITHIN):
            raise ReleaseUnconfirmed(
                f"{shown(contender.name)}: the server has not confirmed the release within "
                f"{CONFIRM_WITHIN:g} s. The client goes on in the background; until the server confirms it, "
                "other clients may wait"
            )
        if contender.state is not State.RELEASED:
            raise contender.error()

    @to_the_end
    def _downgrade(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.downgrade(contender, self._driver.inline)
        self._wait(contender, turned)
        error = contender.why_not_downgraded()
        if error is not None:
            raise error

    @to_the_end
    def _extend(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.extend(contender, self._driver.inline)
        self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    def _wait_revoke_requested(self, contender: Contender, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        self._wait(
            contender,
            lambda contender: contender.revoke_requested or contender.state is not State.HELD,
            limit,
        )
        return contender.revoke_requested

    def _wait(self, contender: Contender, until: Until, limit: float | None = None) -> bool:
        """Waits until that is true, and meanwhile carries out the contender's commands. Gives False if the
        time is up.
        """
        inbox, engine = contender.inbox, self._engine
        taken: deque[Command] = deque(maxlen=1)
        end = None if limit is None else time.monotonic() + limit
        try:
            while True:
                while inbox:
                    try:
                        # This is one step for the interpreter. A signal between a pop and an assignment would
                        # lose the command.
                        taken.extend(starmap(inbox.popleft, ONCE))
                    except IndexError:  # Another thread that uses this grant has taken the command.
                        break
                    self._driver.carry_out(taken[0], contender)
                if until(contender):
                    return True
                if not may_wait():
                    raise MisuseError(
                        f"{shown(contender.name)}: this call cannot wait here: a finalizer or a signal "
                        "handler makes it while this thread is inside the client. Make the call in another "
                        "thread",
                        543,
                        "cannot-wait",
                    )
                waiter = Waiter()
                with engine.order:
                    if until(contender) or inbox:
                        continue
                    contender.waiters.append(waiter.wake)
                if end is None:
                    waiter.wait(None)
                elif not waiter.wait(end - time.monotonic()):
                    if time.monotonic() - end > LATE / 1e6:
                        # The process was stopped. First the client reads what has come meanwhile.
                        waiter.wait(TURN / 1e6)
                    return until(contender)
        except BaseException:
            engine.hand_over(contender, taken[0] if taken else None)
            raise


class Waiter:
    """One thread waits, and another one wakes it. This is the cheapest way that Python has."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._lock.acquire()

    def wake(self) -> None:
        """Wakes the thread. A second call does nothing."""
        try:
            self._lock.release()
        except RuntimeError:
            pass

    def wait(self, seconds: float | None) -> bool:
        """Waits for a call of ``wake``. Gives False if the time is up."""
        return self._lock.acquire(True, -1 if seconds is None else max(0.0, seconds))


__all__ = ["Client", "connect"]
