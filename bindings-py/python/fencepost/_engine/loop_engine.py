"""An engine on an event loop. It wakes tasks on the loop. Any thread may report the event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context

from .._fencepost import Event, Hub
from ..errors import MisuseError
from ..hub._clock import now
from .claim import ClaimContender
from .contender import Contender, State
from .driver import Driver
from .engine import Engine
from .reporter import Reporter
from .unclaimed import Unclaimed


class LoopEngine(Engine):
    """An engine that wakes futures of one loop."""

    def __init__(
        self, hub: Hub, driver: Driver, loop: asyncio.AbstractEventLoop, connect_within: int | None = None
    ) -> None:
        super().__init__(hub, driver, connect_within)
        self.loop = loop
        self.outlived = False
        """Whether the loop was closed before the client, because the program did not close the client."""
        self.unclaimed: Unclaimed | None = None
        """None on Redis. Only the loop renews leases there, so leases end by themselves when the loop stands
        still.
        """
        if hub.family == "zookeeper":
            self.unclaimed = Unclaimed(self, self._give_back)

    def make_reporter(self) -> Reporter:
        """See CriticalSection. A tick delivers, because handlers may use objects of the loop."""
        return Reporter(self.callback_failed, lambda: self.timer.schedule(now()))

    def run_callbacks(self) -> None:
        """See Closing. Losses come first: a slow handler must not delay the cancellation of a body."""
        super().run_callbacks()
        self.reporter.deliver()

    def check(self) -> None:
        """See Engine. It raises on a loop other than the client's, too."""
        self.check_open()
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

    def report(self, verb: Callable[..., None], *arguments: object, mine: Contender | None = None) -> None:
        """See EnginePort."""
        super().report(verb, *arguments, mine=mine)
        if self.loop.is_closed():
            self.outlive()

    def end_if_stranded(self) -> None:
        """See EnginePort."""
        if not self.closed and self.loop.is_closed():
            self.outlive()

    def poll(self) -> None:
        """See EnginePort."""
        super().poll()
        if self.loop.is_closed():
            self.outlive()

    def take(self, contender: Contender) -> bool:
        """Called when the task that acquires continues. Returns whether it has a grant."""
        with self.order:
            if self.unclaimed is not None:
                self.unclaimed.taken(contender)
            return contender.state is State.HELD

    def _give_back(self, contender: Contender) -> None:
        """Releases a grant that no task has taken in time. Called inside the critical section."""
        if contender.state is State.HELD:
            if isinstance(contender, ClaimContender):
                contender.withdraw(self.hub)
            self._let_go(contender)
            self._drain()

    def _handle_event(self, event: Event) -> None:
        super()._handle_event(event)
        if event.name == "acquired" and self.unclaimed is not None:
            contender = self._contenders.get(event.key)
            if contender is not None:
                self.unclaimed.granted(contender)

    def callback_failed(self, error: Exception) -> None:
        """See Engine. If the loop is closed, the error is ignored."""
        if not self.loop.is_closed():
            self.loop.call_exception_handler(
                {"message": "a handler of logging or metrics has failed", "exception": error}
            )

    def outlive(self) -> None:
        """Called if the loop was closed before the client. Releases all grants, cancels all acquires."""
        if not self.closed:
            self.outlived = True
            self.shut_down(self._dispose_later)
        self.run_callbacks()

    def settle(self, future: asyncio.Future[bool]) -> None:
        """Wakes the task that waits for a future of the loop. Any thread may call; a second call does
        nothing.
        """
        if self.is_on_loop:
            settle(future, True)
        else:
            self.on_loop(settle, future, True)

    def on_loop(self, callback: Callable[..., object], *arguments: object) -> None:
        """Calls something on the loop. Any thread may call this, and finalizers may.

        Like every callback of a client, it runs in a context without the variables of the calling task.
        Otherwise a timer, and each timer that it starts, would have the variables of one request.
        """
        try:
            self.loop.call_soon_threadsafe(callback, *arguments, context=Context())
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
