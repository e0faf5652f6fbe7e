"""The client for threads: locks and grants that any thread may use and share."""

from __future__ import annotations

import threading
import time
import warnings
from _thread import allocate_lock
from collections.abc import Callable
from types import TracebackType

from ._connect import SyncDriver, choose, choose_by_address
from ._contender import Contender, State
from ._engine import Engine
from ._fencepost import Command, Settings
from ._grant import BaseGrant
from ._timer import ThreadTimer
from ._values import Duration, patience, settings
from .errors import CleanupIncomplete, FencepostError, LockLost, NotAcquired, ReleaseUnconfirmed

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


class Client:
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
    ) -> Lock:
        """A lock: a name with checked settings. It sends nothing and is cheap; threads share it freely.

        Durations are seconds or timedeltas. For every server: ``max_hold``, the longest hold allowed (no
        limit), and ``answer_within``, how long one answer may take (5). For Redis: ``ttl``, the lease (10),
        ``renew``, whether it is renewed until the release (True), ``margin``, what is taken off its validity
        (0.002), ``poll``, how often a waiter asks at the latest (0.1). Raises ConfigError.
        """
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
        return Lock(self, name, checked)

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
            engine.enter(contender, checked, wait, self._driver.inline)
            self._wait(contender, _decided)
            if contender.state is State.HELD:
                return Grant(self, contender)
        except BaseException:
            engine.abandon(contender)
            raise
        error = contender.error()
        if isinstance(error, NotAcquired):
            return None
        raise error

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


class Lock:
    """A name with settings. Made by :meth:`Client.lock`; every acquire is a contender of its own.

    ``with lock as grant`` waits for the lock and releases it; :meth:`hold` does the same with a limit.
    """

    __slots__ = ("_client", "_scopes", "_settings", "name")

    def __init__(self, client: Client, name: str, checked: Settings) -> None:
        self.name = name
        self._client = client
        self._settings = checked
        self._scopes = threading.local()

    def acquire(self, timeout: Duration | None = None, *, blocking: bool = True) -> Grant | None:
        """Waits until the lock is granted, for at most ``timeout`` (seconds or a timedelta) if that is given.

        None when somebody else held the lock all the time; with ``blocking=False``, when somebody else holds
        it. Everything else that goes wrong is an exception: Refused, ConfigError, MisuseError.
        """
        return self._client._acquire(self.name, self._settings, patience(timeout, blocking))

    def hold(self, timeout: Duration | None = None, *, blocking: bool = True) -> Scope:
        """A context manager that acquires with a limit: ``with lock.hold(timeout=0.2) as grant``. Raises
        NotAcquired.
        """
        return Scope(self, patience(timeout, blocking))

    def __enter__(self) -> Grant:
        scopes = self._scopes.__dict__.setdefault("open", [])
        grant = Scope(self, True).__enter__()
        scopes.append(grant)
        return grant

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scopes.open.pop().__exit__(kind, error, trace)

    def __repr__(self) -> str:
        return f"<fencepost.Lock {self.name!r}>"


class Scope:
    """An acquire and a release around a block. Made by :meth:`Lock.hold`."""

    __slots__ = ("_grant", "_lock", "_wait")

    def __init__(self, lock: Lock, wait: int | bool) -> None:
        self._lock = lock
        self._wait = wait

    def __enter__(self) -> Grant:
        lock = self._lock
        grant = lock._client._acquire(lock.name, lock._settings, self._wait)
        if grant is None:
            tried = self._wait is False
            code, name = (302, "not-available") if tried else (301, "timeout")
            raise NotAcquired(f"{lock.name}: somebody else holds the lock", code, name)
        self._grant = grant
        return grant

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._grant.__exit__(kind, error, trace)


class Grant(BaseGrant):
    """The right to hold a lock. As a context manager it is released at the end of the block."""

    __slots__ = ("_client", "_lost")

    def __init__(self, client: Client, contender: Contender) -> None:
        super().__init__(client._engine, contender)
        self._client = client
        self._lost: threading.Event | None = None

    @property
    def lost(self) -> threading.Event:
        """Set once the grant has ended without a release: ``grant.lost.is_set()``,
        ``grant.lost.wait(timeout)``.
        """
        self._engine.check_process()
        if self._lost is None:
            with self._engine.order:
                if self._lost is None:
                    lost = threading.Event()
                    self._contender.on_loss.append(lost.set)
                    self._lost = lost
        if self._contender.state is State.LOST:
            self._lost.set()
        return self._lost

    def extend(self) -> None:
        """Makes the grant last from now on; returns when the server has confirmed it. Raises LockLost,
        MisuseError.
        """
        self._client._extend(self._contender)

    def release(self) -> None:
        """Gives the lock back; returns when the server has confirmed it.

        Raises LockLost if there was nothing left to give back, MisuseError if it was released before, and
        ReleaseUnconfirmed after 5 seconds without an answer.
        """
        self._client._release(self._contender)

    def __enter__(self) -> Grant:
        self._engine.check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.check_process()
        if self._contender.state in _GIVEN_BACK:
            return
        try:
            self.release()
        except FencepostError as trouble:
            # The body's own exception is the one to see.
            if error is None:
                raise
            note(error, trouble)


_GIVEN_BACK = frozenset({State.RELEASED, State.RELEASING, State.CLOSED})


def note(error: BaseException, trouble: FencepostError) -> None:
    """Adds to a body's exception what went wrong with its lock."""
    if hasattr(error, "add_note"):
        kind = "lost" if isinstance(trouble, LockLost) else "not released properly"
        error.add_note(f"fencepost: the lock was {kind}: {trouble}")


def _decided(contender: Contender) -> bool:
    return contender.state is not State.WAITING


def _over(contender: Contender) -> bool:
    return contender.is_over


__all__ = ["Client", "Grant", "Lock", "Scope", "connect"]
