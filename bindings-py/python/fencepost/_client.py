"""The client for threads: locks and grants that any thread may use and share."""

from __future__ import annotations

import threading
import time
import warnings
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from functools import wraps
from types import TracebackType
from typing import TypeVar

from ._closing import CONFIRM_WITHIN
from ._connect import SyncDriver, choose, choose_by_address, family_of
from ._contender import Contender, Hold, State, Until, decided, over, turned
from ._engine import Engine
from ._fencepost import Command
from ._inspection import Found, Subject, found
from ._kinds import AnyLock, Kinds
from ._lock import Grant, Lock
from ._owners import ownership
from ._timer import LATE, TURN, ThreadTimer
from ._values import Duration, micros, positive, settings
from ._waiting import may_wait
from .errors import CleanupIncomplete, FencepostError, MisuseError, NotAcquired, ReleaseUnconfirmed

CONNECT_WITHIN = 5.0
"""For how many seconds an acquire waits for the first connection."""

Given = TypeVar("Given")


def to_the_end(verb: Callable[[Client, Hold], Given]) -> Callable[[Client, Hold], Given]:
    """What is done with a grant. When the thread is interrupted, others carry out what it leaves."""

    @wraps(verb)
    def carried(client: Client, hold: Hold) -> Given:
        try:
            return verb(client, hold)
        except Exception:
            raise
        except BaseException:
            client._engine.hand_over(hold.contender)
            raise

    return carried


def connect(url: str, *, connect_timeout: Duration = CONNECT_WITHIN) -> Client:
    """A client of the server at ``url``.

    ``memory:`` and ``memory:NAME`` (inside this process),
    ``zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MILLISECONDS``,
    ``redis://USER:PASSWORD@HOST:PORT/DATABASE``, ``rediss://…?ca=PATH`` (TLS; the certificate is checked).
    Nothing is waited for: connecting is part of the patience of an acquire. Until the first connection an
    acquire waits ``connect_timeout`` for it at most (seconds or a timedelta), then it is Refused
    (``unreachable``). Raises ConfigError for an address that makes no sense.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix, connect_timeout)


class Client(Kinds):
    """Locks on one connection. Made by :func:`connect`, or on a ``KazooClient`` or ``redis.Redis`` of your
    own.

    Your own connection is never closed, and what was hung into it is removed on :meth:`close`. ``prefix``,
    for ZooKeeper: the path below which the locks lie. ``connect_timeout``: as for :func:`connect`; None: an
    acquire waits for the first connection as long as its patience lasts. Use it as a context manager, or
    close it.
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
        self._family = family_of(driver)
        engine = Engine(driver.hub, driver, within)
        timer = ThreadTimer(engine)
        closing = threading.RLock()

        def dispose(within: float = CONFIRM_WITHIN) -> None:
            # The thread that closes this client does it, or else the timer's.
            if closing.acquire(blocking=False):
                try:
                    if not engine.disposed:
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
        owner: str | None = None,
    ) -> AnyLock:
        self._engine.check_process()
        checked = settings(self._family, self._prefix, kind, name, options)
        subject = Subject(self._family, self._prefix, kind, name, options)
        return lock(self, name, checked, subject, ownership(kind, name, owner))

    def close(self) -> None:
        """Releases all grants, gives all waiting acquires up, and waits at most 5 seconds for the server's
        answers.

        Grants that are held are lost by it: their ``lost`` is set, and their blocks raise LockLost. Closing
        again does nothing, or finishes what was interrupted. Raises CleanupIncomplete if something had to be
        left.
        """
        engine = self._engine
        engine.check_process()
        if not may_wait():
            engine.orphan()
            return
        with self._closing:
            if engine.disposed:
                return
            end = time.monotonic() + CONFIRM_WITHIN
            try:
                idle = Waiter()
                engine.shut(idle.wake)
                idle.wait(CONFIRM_WITHIN)
                left = engine.left
                engine.dispose(max(0.0, end - time.monotonic()))
            except BaseException:
                engine.leave(CONFIRM_WITHIN)
                raise
        if left:
            raise CleanupIncomplete(
                f"{left} contenders were left on the server: they go with their leases or session", count=left
            )

    @property
    def closed(self) -> bool:
        """Whether the client was closed."""
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
        warnings.warn(f"unclosed {self!r}: use `with`, or close it", ResourceWarning, 2, source=self)

    def __repr__(self) -> str:
        return f"<fencepost.Client of {self._driver.describe()}>"

    # What locks and grants do.

    def _acquire(self, lock: Lock, wait: int | bool) -> Grant | None:
        engine = self._engine
        engine.check()
        hold = Hold(Contender(lock.name, lock._subject.kind, lock._ownership))
        try:
            engine.enter(hold, lock._settings, wait, self._driver.inline)
            contender = hold.contender
            self._wait(contender, decided)
            contender.warn()
            if hold.state is State.HELD:
                return Grant(self, hold)
        except BaseException:
            engine.abandon(hold)
            raise
        error = contender.error()
        if isinstance(error, NotAcquired):
            return None
        raise error

    def _inspect(self, subject: Subject, action: str, contender: Found | None = None) -> list[Found]:
        checked = subject.settings(action, contender)
        engine = self._engine
        engine.check()
        look = Contender(subject.name)
        hold = Hold(look)
        try:
            engine.enter(hold, checked, False, self._driver.inline)
            self._wait(look, decided)
        except BaseException:
            engine.abandon(hold)
            raise
        if look.state is not State.FOUND:
            raise look.error()
        return found(look.event)

    @to_the_end
    def _release(self, hold: Hold) -> None:
        engine, contender = self._engine, hold.contender
        if hold.state is not State.LOST:
            engine.check()
        if hold.state is State.HELD and not may_wait():
            engine.orphan(hold)
            return
        until = engine.release(hold, self._driver.inline)
        if until is not None and not self._wait(contender, until, CONFIRM_WITHIN):
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

    @to_the_end
    def _downgrade(self, hold: Hold) -> None:
        engine, contender = self._engine, hold.contender
        if hold.state is not State.LOST:
            engine.check()
        until = engine.downgrade(hold, self._driver.inline)
        if until is None:
            return
        self._wait(contender, until)
        error = contender.why_not_downgraded()
        if error is not None:
            if contender.state is State.HELD:
                engine.restore(hold)
            raise error

    @to_the_end
    def _extend(self, hold: Hold) -> None:
        engine, contender = self._engine, hold.contender
        if hold.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.extend(hold, self._driver.inline)
        self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if hold.state is not State.HELD:
            raise engine.why_not_held(hold)

    def _wait_revoke_requested(self, hold: Hold, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        self._wait(
            hold.contender,
            lambda contender: contender.revoke_requested or hold.state is not State.HELD,
            limit,
        )
        return hold.contender.revoke_requested

    def _wait(self, contender: Contender, until: Until, limit: float | None = None) -> bool:
        """Waits until that is so, and meanwhile carries out the contender's own commands. False: the time is
        up.
        """
        inbox, engine = contender.inbox, self._engine
        command: Command | None = None
        end = None if limit is None else time.monotonic() + limit
        try:
            while True:
                while inbox:
                    try:
                        command = inbox.popleft()
                    except IndexError:  # Another thread that uses this grant has taken it.
                        break
                    self._driver.carry_out(command, contender)
                if until(contender):
                    return True
                if not may_wait():
                    raise MisuseError(
                        f"{contender.name}: a finalizer or signal handler that has come in the middle of the "
                        "client's own work cannot wait here: have another thread do this",
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
                        # The process was stopped: what has come meanwhile is taken in first.
                        waiter.wait(TURN / 1e6)
                    return until(contender)
        except BaseException:
            engine.hand_over(contender, command)
            raise


class Waiter:
    """The cheapest thing that one thread can wait for and another wake."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._lock.acquire()

    def wake(self) -> None:
        """Wakes it; again does nothing."""
        try:
            self._lock.release()
        except RuntimeError:
            pass

    def wait(self, seconds: float | None) -> bool:
        """Waits to be woken. False: the time is up."""
        return self._lock.acquire(True, -1 if seconds is None else max(0.0, seconds))


__all__ = ["Client", "connect"]
