"""The critical section of an engine: every input of the hub, and the polling after it."""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from .._fencepost import Command, Event, Hub
from ..errors import FencepostError, without_frames
from ..hub._clock import now
from .contender import Contender, State, Wake
from .driver import Driver, Timer
from .faults import end_by_fault, is_fault
from .reachability import Reachability
from .reentrancy import watch
from .reporter import Reporter
from .reports import Reports
from .signals import raised_by_program

_MOST_CAUSES = 256


class CriticalSection:
    """A hub with its driver, and the contenders. One lock protects all inputs and the polling after them."""

    def __init__(self, hub: Hub, driver: Driver, connect_within: int | None = None) -> None:
        self.hub = hub
        self.driver = driver
        self.closed = False
        self.order = threading.RLock()
        """The lock of the critical section: every input, and the polling after it. It is re-entrant, because
        the driver may report a failure while the engine hands it the command.
        """
        self.pid = os.getpid()
        self.allocate_lock: object = _thread.allocate_lock
        """If ``_thread`` later has another function, gevent or eventlet has patched the threads since then.
        """
        self.timer: Timer
        self.reachability = Reachability(connect_within, driver.describe)
        self._fault: BaseException | None = None
        """The programming error that ended this client."""
        self._contenders: dict[int, Contender] = {}
        self._outputs: list[Command | Event] = []
        self._draining = False
        self._orphans: deque[Contender | None] = deque()
        self._causes: dict[int, BaseException] = {}
        self._idle: list[Wake] = []
        self._waking: list[Wake] = []
        """The engine calls these at the end of the section. Each wakes a thread or task, and a second call
        does no harm.
        """
        self._callbacks: deque[Wake] = deque()
        """The next tick calls these, outside of the section: notices of losses, and the close of the driver.
        None of them is code of the program.
        """
        self.reporter = self.make_reporter()
        self.reports = Reports(hub.family, driver.describe, self.reporter)
        self.dispose: Callable[..., None] = lambda: None
        """Closes the driver and the timer. Called when nothing is pending, or when the time for that is up.
        """
        self.disposed = False
        self.unreported = 0
        """The number of contenders that a close in the background left on the server. The next call of close
        reports it.
        """
        self._dispose_at: int | None = None
        self._is_shut_down = False
        watch(self.order)

    def make_reporter(self) -> Reporter:
        """The reporter that passes the reports of this engine on."""
        raise NotImplementedError

    def note(self, id: int, cause: BaseException | None) -> None:
        """See EnginePort."""
        if cause is not None:
            if not is_fault(cause):
                without_frames(cause)
            self._causes[id] = cause
            if not self.reachability.reached:
                self.reachability.last_error = cause
            if len(self._causes) > _MOST_CAUSES:
                self._causes.pop(next(iter(self._causes)), None)

    def fail(self, fault: BaseException) -> None:
        """See EnginePort."""
        with self.order:
            if self._fault is not None or self.closed:
                return
            self._fault = fault
            for contender in self._contenders.values():
                end_by_fault(contender, fault)
                self._ended(contender)
            self._contenders.clear()
            self.hub.shutdown(now())
            if self.hub.family == "zookeeper":
                # No machine may wait for another session.
                self.hub.session(now(), "closed")
            self._drain()

    @property
    def unanswered(self) -> int:
        """The number of contenders that still wait for the server. It is 0 if the client has never reached a
        server.
        """
        return self.hub.pending if self.reachability.reached else 0

    # Inside the section.

    def _close(self, contender: Contender) -> None:
        """Ends a contender in any state, without an event for it."""
        # In this order: after an interrupt between the two, the hub has closed it all the same.
        unused = self.hub.close(now(), contender.key)
        del self._contenders[contender.key]
        if unused is not None:
            self.driver.forget(unused)

    def _ended(self, contender: Contender) -> None:
        """A contender has changed, or ended. Wakes the threads and tasks that wait for it."""
        self.reports.changed(contender)
        self._waking.extend(contender.waiters)
        contender.waiters = []
        if contender.state is State.LOST:
            # The next tick calls them: this may be a thread of the client library, and an event has its own
            # lock.
            self._callbacks.extend(contender.on_loss)
            contender.on_loss = []

    def _drain(self, mine: Contender | None = None) -> None:
        """Handles all outputs of the hub: hands over the commands, handles the events, and wakes the threads
        and tasks that wait.

        Commands of ``mine`` go to its inbox. The calling thread carries them out itself. A further grant of
        an owner has no commands: the commands of its machine have the key of the first grant.
        """
        if self._draining:
            # The driver reports a failure while the engine hands it the command. The outer call continues.
            return
        outputs = self._outputs
        until: int | None = None
        try:
            self._draining = True
            while True:
                until = self.hub.drain(outputs)
                if not outputs:
                    break
                while outputs:
                    output = outputs[0]
                    if isinstance(output, Event):
                        self._handle_event(output)
                    elif mine is not None and output.key == mine.key and self._fault is None:
                        mine.inbox.append(output)
                    else:
                        self._submit(output)
                    del outputs[0]
            if self._idle and self.unanswered == 0:
                self._waking.extend(self._idle)
                self._idle = []
            while self._waking:
                self._waking[0]()
                del self._waking[0]
            until = now() if self._callbacks else self.reachability.next_due(until)
            if self._dispose_at is not None:
                until = self._dispose_at if until is None else min(until, self._dispose_at)
        except BaseException:
            # It is not known whether the driver has the first command. An event may be handled twice without
            # harm.
            if outputs and isinstance(outputs[0], Command):
                self.hub.failed(now(), outputs[0].id, "unknown")
                del outputs[0]
            raise
        finally:
            self._draining = False
        self.timer.schedule(until)

    def _interrupted(self, error: BaseException) -> None:
        """An exception such as Ctrl-C has ended a critical section early. The next tick does the rest."""
        if not isinstance(error, FencepostError):
            self.timer.schedule(now())

    def _submit(self, command: Command) -> None:
        if self._fault is not None:
            self.hub.failed(now(), command.id, "closed")
            return
        try:
            self.driver.submit(command)
        except Exception as error:
            self.hub.failed(now(), command.id, "unknown")
            theirs = raised_by_program(error)
            if theirs is not None:
                self.timer.schedule(now())
                raise theirs from theirs.__cause__
            self.note(command.id, error)
            if not sys.is_finalizing():  # At that time, Python has removed modules, so any call may fail.
                self.fail(error)

    def _handle_event(self, event: Event) -> None:
        contender = self._contenders.get(event.key)
        if contender is None:
            return
        cause = None if event.command is None else self._causes.get(event.command)
        if not contender.handle_event(event, cause):
            return
        if event.reason == "unreachable":
            contender.error_of_client = self.reachability.unreachable(contender.name, event.text or "", cause)
        elif event.reason == "connection-closed" and contender.state is State.REFUSED and not self.closed:
            contender.error_of_client = self.reachability.closed(contender.error())
        self._ended(contender)
        if contender.may_go:
            # The hub removes the machine when the server has replied to all its requests.
            self._close(contender)
