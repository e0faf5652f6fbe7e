"""An engine on an event loop. It wakes tasks on the loop, whatever thread brings the event, and uses the
loop's timers.
"""

from __future__ import annotations

import asyncio
from _thread import start_new_thread
from collections.abc import Callable

from .._fencepost import Event, Hub
from ..errors import MisuseError
from ..hub._clock import now
from .contender import Contender, State
from .driver import Driver
from .engine import Engine
from .timer import LATE, NEVER, TURN, pause
from .unclaimed import Untaken


class LoopEngine(Engine):
    """An engine that wakes futures of one loop."""

    def __init__(
        self, hub: Hub, driver: Driver, loop: asyncio.AbstractEventLoop, connect_within: int | None = None
    ) -> None:
        super().__init__(hub, driver, connect_within)
        self.loop = loop
        self.untaken: Untaken | None = None
        """None on Redis. Only the loop renews leases there, so they end by themselves when it stands still.
        """
        if hub.family == "zookeeper":
            self.untaken = Untaken(self)

    def check(self) -> None:
        """See Engine. It raises on a loop other than the client's, too."""
        super().check()
        self.check_loop()

    def check_loop(self) -> None:
        """Raises MisuseError on another loop than that on which the client was made."""
        running = running_loop()
        if running is not self.loop:
            raise MisuseError(
                f"this client was made on the loop {_named(self.loop)}, and this call is on the loop "
                f"{_named(running)}: make one client on each loop, and close it there",
                542,
                "wrong-loop",
            )

    def put(self, verb: Callable[..., None], *arguments: object, mine: Contender | None = None) -> None:
        """See Engine."""
        super().put(verb, *arguments, mine=mine)
        if self.loop.is_closed():
            self.outlive()

    def poke(self) -> None:
        """See Engine."""
        super().poke()
        if self.loop.is_closed():
            self.outlive()

    def take(self, contender: Contender) -> bool:
        """The task that acquires goes on. Gives whether it has a grant."""
        with self.order:
            if self.untaken is not None:
                self.untaken.taken(contender)
            return contender.state is State.HELD

    def give_back(self, contender: Contender) -> None:
        """No task has taken a grant in time: releases it. Called inside the critical section."""
        if contender.state is State.HELD:
            self._let_go(contender)
            self._drain()

    def _tell(self, event: Event) -> None:
        super()._tell(event)
        if event.name == "acquired" and self.untaken is not None:
            contender = self._contenders.get(event.key)
            if contender is not None:
                self.untaken.granted(contender)

    def tell(self) -> None:
        """See Engine. It drops the calls for a loop that is closed."""
        while self._later:
            try:
                super().tell()
            except RuntimeError:
                if not self.loop.is_closed():
                    raise

    def outlive(self) -> None:
        """The loop was closed before the client. Releases all grants, and cancels all acquires."""
        if not self.closed:
            self.shut(self._dispose_later)
        self.tell()

    def settle(self, future: asyncio.Future[bool]) -> None:
        """Wakes the task that waits for a future of the loop. Any thread may call; a second call does
        nothing.
        """
        if self.is_on_loop:
            settle(future, True)
        else:
            self.on_loop(settle, future, True)

    def on_loop(self, callback: Callable[..., object], *arguments: object) -> None:
        """Calls something on the loop. Any thread may call this, and finalizers may."""
        try:
            self.loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # The loop is closed, so no task waits.
            pass

    @property
    def is_on_loop(self) -> bool:
        """Whether this thread runs the loop at this moment."""
        return asyncio._get_running_loop() is self.loop


def running_loop() -> asyncio.AbstractEventLoop:
    """The loop that this thread runs. Raises RuntimeError if there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError as error:
        raise RuntimeError(
            "there is no running event loop of asyncio: use fencepost.asyncio inside a coroutine. For "
            "threads there is fencepost.connect(). Loops of other libraries, such as trio, are not supported"
        ) from error


def _named(loop: asyncio.AbstractEventLoop) -> str:
    return f"{loop!r} at {id(loop):#x}"


def settle(future: asyncio.Future[bool], value: bool) -> None:
    """Gives a future its result, unless it has one."""
    if not future.done():
        future.set_result(value)


class Alarm:
    """Calls back after so many seconds. If the loop was busy, it first reads the answers that have come."""

    __slots__ = ("_call", "_handle", "_loop", "_when")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[[], object]) -> None:
        self._loop = loop
        self._call = call
        self._when = loop.time() + max(0.0, seconds)
        self._handle = loop.call_at(self._when, self._ring)

    def cancel(self) -> None:
        """Prevents the call."""
        self._handle.cancel()

    def _ring(self) -> None:
        if self._loop.time() - self._when > LATE / 1e6:
            self._handle = self._loop.call_later(TURN / 1e6, self._call)
        else:
            self._call()


class LoopTimer:
    """Calls an engine's tick at the planned time."""

    def __init__(self, engine: LoopEngine) -> None:
        self._engine = engine
        self._due = NEVER
        self._handle: asyncio.TimerHandle | None = None
        self._stopped = False
        self._is_late = False
        """Whether a late tick waits while the loop reads the answers that have come."""

    def plan(self, until: int | None) -> None:
        """See the engine's Timer."""
        if until is None or until >= self._due or self._stopped:
            return
        self._due = until
        if self._engine.is_on_loop:
            self._arm()
        else:
            self._engine.on_loop(self._arm)

    def nudge(self) -> None:
        """See the engine's Timer."""
        if not self._engine.loop.is_closed():
            self._engine.on_loop(self._fire)
        elif not self._stopped:
            # The loop was closed before the client. This may be a finalizer's call, which must not wait.
            try:
                start_new_thread(self._engine.tick, (now(),))
            except RuntimeError:  # The interpreter is shutting down.
                pass

    def stop(self) -> None:
        """See the engine's Timer."""
        self._stopped = True
        if self._engine.untaken is not None:
            self._engine.untaken.stop()
        if self._handle is not None:
            self._handle.cancel()

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if not self._stopped and self._due != NEVER:
            self._handle = self._engine.loop.call_later(pause(self._due), self._fire)

    def _fire(self) -> None:
        time = now()
        if self._stopped or self._is_late:
            return
        if self._due <= time or self._engine.has_orphans:
            if time - self._due > LATE:
                # The loop reads what has come by now. The tick decides only what was due by `time`.
                self._is_late = True
                self._engine.loop.call_later(TURN / 1e6, self._tick, time)
                return
            self._tick(time)
        else:
            self._arm()

    def _tick(self, time: int) -> None:
        self._is_late = False
        if not self._stopped:
            self._due = NEVER
            self._engine.tick(time)
            self._arm()
