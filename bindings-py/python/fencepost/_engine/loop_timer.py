"""The timers of a client for asyncio: on its event loop."""

from __future__ import annotations

import asyncio
from _thread import start_new_thread
from collections.abc import Callable
from contextvars import Context
from functools import partial

from ..hub._clock import now
from .loop_engine import LoopEngine, settle
from .timer import LATE, NEVER, TURN, pause


class Alarm:
    """Calls back after this many seconds. A busy loop first reads the replies that have arrived."""

    __slots__ = ("_call", "_handle", "_loop", "_when")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[[], object]) -> None:
        self._loop = loop
        self._call = call
        self._when = loop.time() + max(0.0, seconds)
        # The loop keeps a cancelled handle until its time, with its context.
        self._handle = loop.call_at(self._when, self._ring, context=Context())

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
        """Whether a late tick waits while the loop reads the replies that have arrived."""

    def schedule(self, until: int | None) -> None:
        """See the engine's Timer."""
        if until is None or until >= self._due or self._stopped:
            return
        self._due = until
        if self._engine.is_on_loop:
            self._arm()
        else:
            self._engine.on_loop(self._arm)

    def ensure(self) -> None:
        """See the engine's Timer. The loop calls the ticks, so they need no thread."""

    def wake(self) -> None:
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
        if self._engine.unclaimed is not None:
            self._engine.unclaimed.stop()
        if self._handle is not None:
            self._handle.cancel()

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if not self._stopped and self._due != NEVER:
            self._handle = self._engine.loop.call_later(pause(self._due), self._fire, context=Context())

    def _fire(self) -> None:
        time = now()
        if self._stopped or self._is_late:
            return
        if self._due <= time or self._engine.has_orphans:
            if time - self._due > LATE:
                # First the loop reads the replies that have arrived. The tick handles only what was due by
                # `time`.
                self._is_late = True
                self._engine.loop.call_later(TURN / 1e6, self._tick, time, context=Context())
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


async def within(future: asyncio.Future[bool], seconds: float) -> bool:
    """Waits for a future. Returns False if the time is up."""
    handle = Alarm(future.get_loop(), seconds, partial(settle, future, False))
    try:
        return await future
    finally:
        handle.cancel()
