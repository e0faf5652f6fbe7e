"""The engine: one hub with its driver. In one critical section it polls the hub and hands the commands to the
driver.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

from .._fencepost import Command, Event, Hub, Settings, misuse
from ..errors import MisuseError, WrongProcess, without_frames
from ..hub._clock import now
from .closing import CONFIRM_WITHIN, Closing
from .contender import Contender, State, Wake
from .driver import Driver, Timer
from .faults import driver_error, end, is_fault
from .intents import Intents
from .log import log
from .machines import Machines
from .reachability import Reachability
from .reentrancy import watch
from .wording import shown

_MOST_CAUSES = 256


class Engine(Intents, Closing):
    """Everything that the clients for threads and for asyncio have in common."""

    def __init__(self, hub: Hub, driver: Driver, connect_within: int | None = None) -> None:
        self.hub = hub
        self.driver = driver
        self.closed = False
        self.order = threading.RLock()
        """The lock of the critical section: every input, and the polling after it. It is re-entrant, because
        the driver may report a failure while the engine hands it the command.
        """
        self.pid = os.getpid()
        self.timer: Timer
        self.reach = Reachability(connect_within, driver.describe)
        self._fault: BaseException | None = None
        """The programming error that ended this client."""
        self._contenders: dict[int, Contender] = {}
        self._machines = Machines()
        self._outputs: list[Command | Event] = []
        self._draining = False
        self._orphans: deque[Contender | None] = deque()
        self._causes: dict[int, BaseException] = {}
        self._idle: list[Wake] = []
        self._waking: list[Wake] = []
        """The engine calls these at the end of the section. Each wakes a thread or task, and a second call
        does no harm.
        """
        self._later: deque[Wake] = deque()
        """The next tick calls these, outside of the section."""
        self.dispose: Callable[..., None] = lambda: None
        """Closes the driver and the timer. Called when nothing is pending, or when the time for that is up.
        """
        self.disposed = False
        self.untold = 0
        """The number of contenders that a close in the background left on the server. The next call of close
        reports it.
        """
        self._dispose_at: int | None = None
        self._shut = False
        watch(self.order)

    def start(self, timer: Timer) -> None:
        """Begins to work."""
        self.timer = timer
        self.driver.start(self)

    # Calls of the application.

    def check(self) -> None:
        """Raises if a call that waits is not possible here."""
        self.check_open()

    def check_open(self) -> None:
        """Raises if no call is possible: in another process, and on a client that is closed or has failed."""
        self.check_process()
        if self.closed:
            raise misuse("client-closed")
        if self._fault is not None:
            raise driver_error("this client has failed", self._fault)

    def check_process(self) -> None:
        """Raises WrongProcess in any other process than the one that made the client."""
        if os.getpid() != self.pid:
            raise WrongProcess(
                f"this client was made in process {self.pid}, and this is process {os.getpid()}: after a "
                "fork, make a new client in each process"
            )

    def enter(self, contender: Contender, settings: Settings, patience: int | bool, mine: bool) -> None:
        """Begins an acquire. Raises MisuseError if the owner waits already, or would have to be upgraded."""
        with self.order:
            self.check()  # Again: another thread may have closed the client since the last check.
            try:
                random = os.urandom(24)
                time = now()
                key = self.hub.open(time, settings, random[:16], int.from_bytes(random[16:], "big"))
                contender.key = contender.machine = key
                self._contenders[key] = contender
                if patience is True:
                    self.hub.acquire(time, key)
                elif patience is False:
                    self.hub.try_acquire(time, key)
                else:
                    self.hub.acquire(time, key, patience)
                self.reach.wait(contender, time)
                self._drain(contender if mine else None)
            except MisuseError as error:
                raise MisuseError(f"{shown(contender.name)}: {error}", error.code, error.name) from None
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()

    def cancel(self, contender: Contender) -> None:
        """Cancels an acquire that waits. Its event is a refusal."""
        with self.order:
            if contender.state is State.WAITING and contender.key in self._contenders:
                self.hub.cancel(now(), contender.key)
                self._drain()
        self.driver.after()

    def abandon(self, contender: Contender) -> None:
        """Ends an interrupted acquire, in any state. The client deletes what it has created."""
        with self.order:
            if contender.key in self._contenders:
                self._close(contender)
            if not contender.is_over:
                contender.state = State.CLOSED
            self._waking.extend(contender.waiters)
            contender.waiters = []
            self.hand_over(contender)
        self.driver.after()

    def _let_go(self, contender: Contender) -> None:
        """Releases a grant that the program has dropped, or that no task has taken."""
        if contender.key in self._contenders:
            self._close(contender)
            if not contender.is_over:
                contender.state = State.RELEASED
            self._ended(contender)

    def _close(self, contender: Contender) -> None:
        """Ends a contender in any state, without an event for it."""
        # In this order: after an interrupt in between, the hub has closed it all the same.
        self.hub.close(now(), contender.key)
        self._forget(contender.key)

    def hand_over(self, contender: Contender, command: Command | None = None) -> None:
        """The thread that carried out a contender's commands was interrupted, perhaps while it carried out
        ``command``. The driver takes over the other commands.
        """
        with self.order:
            if command is not None:
                self.hub.failed(now(), command.id, "unknown")
            while contender.inbox:
                self._submit(contender.inbox.popleft())
            self._drain()

    def orphan(self, contender: Contender | None = None) -> None:
        """The program has dropped a grant, or the whole client (None): the next tick releases or closes it.
        For finalizers: takes no lock.
        """
        self._orphans.append(contender)
        self.timer.nudge()

    # Calls of drivers and timers.

    def put(self, verb: Callable[..., None], *arguments: object, mine: Contender | None = None) -> None:
        """See EnginePort."""
        with self.order:
            try:
                try:
                    verb(now(), *arguments)
                except MisuseError as error:
                    # An answer of a shape that the command cannot have. The core takes the outcome as
                    # unknown.
                    log.warning("fencepost: %s", error)
                self._drain(mine)
            except BaseException as error:
                self._interrupted(error)
                raise
        if not self._draining:
            self.driver.after()

    def knows(self, key: int) -> bool:
        """See EnginePort."""
        return key in self._contenders or key in self._machines

    def reached(self) -> None:
        """See EnginePort."""
        if not self.reach.reached:
            with self.order:
                self.reach.arrived()

    def made(self, key: int, path: str) -> None:
        """See EnginePort."""
        contender = self._contenders.get(key)
        if contender is not None:
            contender.node = path

    def failed(
        self, id: int, failure: str, cause: BaseException | None, mine: Contender | None = None
    ) -> None:
        """See EnginePort."""
        self.note(id, cause)
        if cause is not None and is_fault(cause):
            self.fail(cause)
        self.put(self.hub.failed, id, failure, mine=mine)

    def fail(self, fault: BaseException) -> None:
        """See EnginePort."""
        with self.order:
            if self._fault is not None or self.closed:
                return
            self._fault = fault
            for contender in self._contenders.values():
                end(contender, fault)
                self._ended(contender)
            self._forget(*self._contenders)
            self.hub.shutdown(now())
            if self.hub.family == "zookeeper":
                # No machine may wait for another session.
                self.hub.session(now(), "closed")
            self._drain()

    def note(self, id: int, cause: BaseException | None) -> None:
        """See EnginePort."""
        if cause is not None:
            if not is_fault(cause):
                without_frames(cause)
            self._causes[id] = cause
            if not self.reach.reached:
                self.reach.trouble = cause
            if len(self._causes) > _MOST_CAUSES:
                self._causes.pop(next(iter(self._causes)), None)

    def tick(self, time: int) -> None:
        """A timer calls this at that time or later, when all inputs that had come by then are in the hub; and
        after :meth:`orphan`.
        """
        with self.order:
            while self._orphans:
                contender = self._orphans.popleft()
                if contender is None:
                    self._end_all()
                    self._leave(CONFIRM_WITHIN)
                else:
                    self._let_go(contender)
            if self._dispose_at is not None and self._dispose_at <= time:
                self._dispose_later()
            self.hub.handle_timeout(time)
            for contender in self.reach.overdue(time):
                self._give_up_reaching(contender)
            self._drain()
        self.driver.after()
        self.tell()

    def poke(self) -> None:
        """See EnginePort."""
        with self.order:
            self._drain()
        self.driver.after()

    @property
    def has_orphans(self) -> bool:
        """Whether the program has dropped a grant or the client, and no tick has released it yet."""
        return bool(self._orphans)

    # The critical section.

    def _ended(self, contender: Contender) -> None:
        """A contender has changed, or ended. Wakes the threads and tasks that wait for it."""
        self._waking.extend(contender.waiters)
        contender.waiters = []
        if contender.state is State.LOST:
            # Later: this may be a thread of the client library, and an event has a lock of its own.
            self._later.extend(contender.on_loss)
            contender.on_loss = []

    def _give_up_reaching(self, contender: Contender) -> None:
        """No connection was made in time: refuses the acquire."""
        if contender.state is not State.WAITING or contender.key not in self._contenders:
            return
        contender.state = State.REFUSED
        contender.error_of_client = self.reach.unreachable(contender.name, "no server answered in time", None)
        self._ended(contender)
        self._close(contender)

    def _forget(self, *keys: int) -> None:
        """Forgets contenders that have ended."""
        for key in keys:
            contender = self._contenders.pop(key)
            if self._machines.ended(contender):
                self.driver.forget(contender.machine)

    def _drain(self, mine: Contender | None = None) -> None:
        """Takes all outputs of the hub: hands over the commands, takes in the events, and wakes the threads
        and tasks that wait.

        Commands of ``mine`` go to its inbox. The calling thread carries them out itself.
        """
        if self._draining:
            # The driver has reported a failure while it was given the command. The call outside goes on.
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
                        self._tell(output)
                    elif mine is not None and output.key == mine.machine and self._fault is None:
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
            until = now() if self._later else self.reach.sooner(until)
            if self._dispose_at is not None:
                until = self._dispose_at if until is None else min(until, self._dispose_at)
        except BaseException:
            # It is not known whether the driver has the first command. A second call with an event is
            # harmless.
            if outputs and isinstance(outputs[0], Command):
                self.hub.failed(now(), outputs[0].id, "unknown")
                del outputs[0]
            raise
        finally:
            self._draining = False
        self.timer.plan(until)

    def _interrupted(self, error: BaseException) -> None:
        """An interrupt such as Ctrl-C has ended a critical section early. The next tick does the rest."""
        if not isinstance(error, Exception):
            self.timer.plan(now())

    def _submit(self, command: Command) -> None:
        if self._fault is not None:
            self.hub.failed(now(), command.id, "closed")
            return
        try:
            self.driver.submit(command)
        except Exception as error:
            self.note(command.id, error)
            self.hub.failed(now(), command.id, "unknown")
            self.fail(error)

    def _tell(self, event: Event) -> None:
        contender = self._contenders.get(event.key)
        if contender is None:
            return
        cause = None if event.command is None else self._causes.get(event.command)
        if not contender.tell(event, cause):
            return
        if event.name == "acquired":
            self._machines.granted(contender)
        if event.reason == "unreachable":
            contender.error_of_client = self.reach.unreachable(contender.name, event.text or "", cause)
        self._ended(contender)
        if contender.is_over:
            # The hub removes the machine when the server has answered all that it has sent.
            self._close(contender)
