"""The client for threads: locks and grants that any thread may use and share."""

from __future__ import annotations

import time
import warnings
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from types import TracebackType

from ._connect import SyncDriver, choose, choose_by_address
from ._contender import Contender, State
from ._engine import Engine
from ._fencepost import Command, Settings
from ._inspection import Found, Subject, found
from ._kinds import AnyLock, Kinds
from ._lock import Grant
from ._timer import ThreadTimer
from ._values import Duration, micros, settings
from .errors import CleanupIncomplete, FencepostError, NotAcquired, ReleaseUnconfirmed

CONFIRM_WITHIN = 5.0
"""For how many seconds a release, or a close, waits for the server's word."""


def connect(url: str) -> Client:
    """A client of the server at ``url``.

    ``memory:`` and ``memory:NAME`` (inside this process),
    ``zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MILLISECONDS``,
    ``redis://USER:PASSWORD@HOST:PORT/DATABASE``, ``rediss://…``. Nothing is waited for: connecting is part of
    the patience of the first acquire. Raises ConfigError for an address that makes no sense.
    """
    driver, prefix = choose_by_address(url)
    return Client._of(driver, prefix)


class Client(Kinds):
    """Locks on one connection. Made by :func:`connect`, or on a ``KazooClient`` or ``redis.Redis`` of your
    own.

    Your own connection is never closed, and what was hung into it is removed on :meth:`close`. ``prefix``,
    for ZooKeeper: the path below which the locks lie. Use it as a context manager, or close it.
    """

    _engine: Engine

    def __init__(self, connection: object, *, prefix: str = "") -> None:
        self._begin(*choose(connection, prefix))

    @classmethod
    def _of(cls, driver: SyncDriver, prefix: str) -> Client:
        client = cls.__new__(cls)
        client._begin(driver, prefix)
        return client

    def _begin(self, driver: SyncDriver, prefix: str) -> None:
        self._prefix = prefix
        self._driver = driver
        self._family = driver.hub.family
        engine = Engine(driver.hub, driver)
        timer = ThreadTimer(engine)

        def dispose() -> None:
            driver.close()
            timer.stop()

        engine.dispose = dispose
        self._engine = engine
        engine.start(timer)

    def _lock(self, lock: type[AnyLock], kind: str, name: str, options: Mapping[str, object]) -> AnyLock:
        self._engine.check_process()
        checked = settings(self._family, self._prefix, kind, name, options)
        return lock(self, name, checked, Subject(self._family, self._prefix, kind, name, options))

    def close(self) -> None:
        """Releases all grants, gives all waiting acquires up, and waits at most 5 seconds for the server's
        answers.

        Closing again does nothing. Raises CleanupIncomplete if something had to be left.
        """
        engine = self._engine
        engine.check_process()
        idle = Waiter()
        if not engine.shut(idle.wake):
            return
        idle.wait(CONFIRM_WITHIN)
        left = engine.hub.pending
        self._driver.close()
        engine.timer.stop()
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

    def _acquire(self, name: str, checked: Settings, wait: int | bool) -> Grant | None:
        engine = self._engine
        engine.check()
        contender = Contender(name)
        try:
            self._contend(contender, checked, wait)
            contender.warn()
            if contender.state is State.HELD:
                return Grant(self, contender)
        except BaseException:
            engine.abandon(contender)
            raise
        error = contender.error()
        if isinstance(error, NotAcquired):
            return None
        raise error

    def _inspect(self, subject: Subject, action: str, contender: Found | None = None) -> list[Found]:
        checked = subject.settings(action, contender)
        self._engine.check()
        look = Contender(subject.name)
        try:
            self._contend(look, checked, False)
        except BaseException:
            self._engine.abandon(look)
            raise
        if look.state is not State.FOUND:
            raise look.error()
        return found(look.event)

    def _contend(self, contender: Contender, checked: Settings, wait: int | bool) -> None:
        """Enters a contender and waits until it is decided. Whoever is interrupted has to abandon it."""
        self._engine.enter(contender, checked, wait, self._driver.inline)
        self._wait(contender, _decided)

    def _release(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.ask(contender, engine.hub.release, State.RELEASING, self._driver.inline)
        if not self._wait(contender, _over, CONFIRM_WITHIN):
            raise ReleaseUnconfirmed(
                f"{contender.name}: the server has not confirmed the release; it goes on in the background"
            )
        if contender.state is not State.RELEASED:
            raise contender.error()

    def _extend(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.ask(contender, engine.hub.extend, State.HELD, self._driver.inline)
        self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    def _wait_revoke_requested(self, contender: Contender, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        self._wait(contender, _wanted_or_over, limit)
        return contender.revoke_requested

    def _wait(
        self, contender: Contender, over: Callable[[Contender], bool], limit: float | None = None
    ) -> bool:
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
                if over(contender):
                    return True
                waiter = Waiter()
                with engine.order:
                    if over(contender) or inbox:
                        continue
                    contender.waiters.append(waiter.wake)
                if not waiter.wait(None if end is None else end - time.monotonic()):
                    return over(contender)
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


def _decided(contender: Contender) -> bool:
    return contender.state is not State.WAITING


def _wanted_or_over(contender: Contender) -> bool:
    return contender.revoke_requested or contender.state is not State.HELD


def _over(contender: Contender) -> bool:
    return contender.is_over


__all__ = ["Client", "connect"]
