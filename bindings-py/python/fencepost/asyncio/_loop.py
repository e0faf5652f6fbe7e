"""An engine on an event loop: waiters are woken on the loop, whichever thread brings the news, and the loop
keeps the time.
"""

from __future__ import annotations

import asyncio
from _thread import start_new_thread
from collections.abc import Callable

from .._clock import now
from .._contender import Contender
from .._driver import Driver
from .._engine import Engine
from .._fencepost import Hub
from .._timer import LATE, NEVER, TURN, pause
from ..errors import MisuseError


class LoopEngine(Engine):
    """An engine whose waiters are futures of one loop."""

    def __init__(
        self, hub: Hub, driver: Driver, loop: asyncio.AbstractEventLoop, connect_within: int | None = None
    ) -> None:
        super().__init__(hub, driver, connect_within)
        self.loop = loop

    def check(self) -> None:
        """See Engine. A loop other than the client's is none that it can use."""
        super().check()
        self.check_loop()

    def check_loop(self) -> None:
        """Raises MisuseError on another loop than that on which the client was made."""
        running = running_loop()
        if running is not self.loop:
            raise MisuseError(
                f"this client was made on the loop {_named(self.loop)}, and this is {_named(running)}: "
                "make a client on each loop, and close it there",
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

    def tell(self) -> None:
        """See Engine. What waits on a loop that is closed can be told nothing any more."""
        while self._later:
            try:
                super().tell()
            except RuntimeError:
                if not self.loop.is_closed():
                    raise

    def outlive(self) -> None:
        """The loop was closed before the client: what it holds or waits for is given back."""
        if not self.closed:
            self.shut(self._dispose_later)
        self.tell()

    def settle(self, future: asyncio.Future[bool]) -> None:
        """Wakes whoever waits for a future of the loop. From any thread; again does nothing."""
        if self.is_on_loop:
            settle(future, True)
        else:
            self.on_loop(settle, future, True)

    def on_loop(self, callback: Callable[..., object], *arguments: object) -> None:
        """Has something called on the loop. From any thread, and from finalizers."""
        try:
            self.loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # The loop is closed: nobody waits any more.
            pass

    @property
    def is_on_loop(self) -> bool:
        """Whether the loop runs here, at this moment."""
        return asyncio._get_running_loop() is self.loop


def running_loop() -> asyncio.AbstractEventLoop:
    """The loop that runs here. Raises RuntimeError where there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError as error:
        raise RuntimeError(
            "a client of fencepost.asyncio is made inside a coroutine of asyncio, and there is no running "
            "event loop: threads use fencepost.connect(); loops of other libraries (trio) are not supported"
        ) from error


def _named(loop: asyncio.AbstractEventLoop) -> str:
    return f"{loop!r} at {id(loop):#x}"


def settle(future: asyncio.Future[bool], value: bool) -> None:
    """Gives a future its result, unless it has one."""
    if not future.done():
        future.set_result(value)


class Alarm:
    """Calls back after so many seconds. A loop that was busy meanwhile first takes in what has come."""

    __slots__ = ("_call", "_handle", "_loop", "_when")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[[], object]) -> None:
        self._loop = loop
        self._call = call
        self._when = loop.time() + max(0.0, seconds)
        self._handle = loop.call_at(self._when, self._ring)

    def cancel(self) -> None:
        """It does not call."""
        self._handle.cancel()

    def _ring(self) -> None:
        if self._loop.time() - self._when > LATE / 1e6:
            self._handle = self._loop.call_later(TURN / 1e6, self._call)
        else:
            self._call()


class LoopTimer:
    """Calls an engine's tick when it is time."""

    def __init__(self, engine: LoopEngine) -> None:
        self._engine = engine
        self._due = NEVER
        self._handle: asyncio.TimerHandle | None = None
        self._stopped = False
        self._is_late = False
        """Whether a tick waits for what has come while the loop was busy."""

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
            # The loop has ended before the client. A finalizer may be what calls: it waits for nothing.
            try:
                start_new_thread(self._engine.tick, (now(),))
            except RuntimeError:  # The interpreter is on its way out.
                pass

    def stop(self) -> None:
        """See the engine's Timer."""
        self._stopped = True
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
                # What has come by now is taken in first, and what is due later is not decided yet.
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
