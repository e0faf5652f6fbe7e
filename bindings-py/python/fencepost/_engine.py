"""The engine: one hub with its driver, and the critical section in which the hub is polled and its commands
are handed over.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable

from ._clock import now
from ._closing import CONFIRM_WITHIN, Closing
from ._contender import Contender, Hold, State, Wake
from ._driver import Driver, Timer
from ._faults import driver_error, end, is_fault
from ._fencepost import Command, Event, Hub, Settings, misuse
from ._holding import Holding
from ._owners import Owners
from ._reach import Reach
from ._waiting import watch
from .errors import MisuseError, WrongProcess, without_frames

log = logging.getLogger("fencepost")

_MOST_CAUSES = 256


class Engine(Holding, Closing):
    """Everything that the clients for threads and for asyncio have in common."""

    def __init__(self, hub: Hub, driver: Driver, connect_within: int | None = None) -> None:
        self.hub = hub
        self.driver = driver
        self.closed = False
        self.order = threading.RLock()
        """Held over every input and over the polling that follows. Re-entrant, because a library may fail a
        command while it is handed over.
        """
        self.pid = os.getpid()
        self.timer: Timer
        self.owners = Owners()
        self.reach = Reach(connect_within, driver.describe)
        self._fault: BaseException | None = None
        """The programming error that has ended this client."""
        self._contenders: dict[int, Contender] = {}
        self._outputs: list[Command | Event] = []
        self._draining = False
        self._orphans: deque[Hold | None] = deque()
        self._causes: dict[int, BaseException] = {}
        self._idle: list[Wake] = []
        self._waking: list[Wake] = []
        """Called at the end of the section: they only wake somebody, and may be called twice."""
        self._later: deque[Wake] = deque()
        """Called by the next tick, outside of the section."""
        self.dispose: Callable[..., None] = lambda: None
        """What is left to do for a client that nobody closes to the end, when nothing is pending any more."""
        self.disposed = False
        self._dispose_at: int | None = None
        self._shut = False
        watch(self)

    def start(self, timer: Timer) -> None:
        """Begins to work."""
        self.timer = timer
        self.driver.start(self)

    # What an application wants.

    def check(self) -> None:
        """Raises what makes any call senseless: another process, a closed client."""
        self.check_process()
        if self.closed:
            raise misuse("client-closed")
        if self._fault is not None:
            raise driver_error("this client has failed", self._fault)

    def check_process(self) -> None:
        """Raises WrongProcess in any other process than the one that made the client."""
        if os.getpid() != self.pid:
            raise WrongProcess(
                f"this client was made in process {self.pid}: after a fork, make a new one in each process"
            )

    def enter(self, hold: Hold, settings: Settings, patience: int | bool, mine: bool) -> None:
        """Opens a machine and has it acquire, unless the owner holds the lock already."""
        with self.order:
            self.check()  # Again: another thread may have ended everything meanwhile.
            if self.owners.enter(hold):
                return
            contender = hold.contender
            try:
                random = os.urandom(24)
                time = now()
                key = self.hub.open(time, settings, random[:16], int.from_bytes(random[16:], "big"))
                contender.key = key
                self._contenders[key] = contender
                if patience is True:
                    self.hub.acquire(time, key)
                elif patience is False:
                    self.hub.try_acquire(time, key)
                else:
                    self.hub.acquire(time, key, patience)
                self.reach.wait(contender, time)
                self._drain(contender if mine else None)
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()

    def cancel(self, contender: Contender) -> None:
        """Stops an acquire, which is refused then, unless it is decided already."""
        with self.order:
            if contender.state is State.WAITING and contender.key in self._contenders:
                self.hub.cancel(now(), contender.key)
                self._drain()
        self.driver.after()

    def abandon(self, hold: Hold) -> None:
        """Gives an acquire up that was interrupted, in any state; the server is cleaned up behind it."""
        with self.order:
            contender = hold.contender
            if self._give_up(hold) and not contender.is_over:
                contender.state = State.CLOSED
            self._waking.extend(contender.waiters)
            contender.waiters = []
            self.hand_over(contender)
        self.driver.after()

    def _give_up(self, hold: Hold) -> bool:
        """Ends a hold, or an acquire, without asking; whether it was the last one."""
        contender = hold.contender
        if contender.holds - {hold}:
            contender.holds.discard(hold)
            if contender.state is State.HELD:
                self._yield(contender)
            return False
        self.owners.leave(contender)
        if self.knows(contender.key):
            self._forget(contender.key)
            self.hub.close(now(), contender.key)
        return True

    def hand_over(self, contender: Contender, command: Command | None = None) -> None:
        """The thread that carried out a contender's commands was interrupted, perhaps in the middle of
        ``command``.
        """
        with self.order:
            if command is not None:
                self.hub.failed(now(), command.id, "unknown")
            while contender.inbox:
                self._submit(contender.inbox.popleft())
            self._drain()

    def orphan(self, hold: Hold | None = None) -> None:
        """Notes a hold, or the whole client, that nobody refers to any more. For finalizers: takes no
        lock.
        """
        self._orphans.append(hold)
        self.timer.nudge()

    # What drivers and timers say.

    def put(self, verb: Callable[..., None], *arguments: object, mine: Contender | None = None) -> None:
        """Puts an outcome or notice in: a method of the hub, without its ``now``. Any thread may call."""
        with self.order:
            try:
                try:
                    verb(now(), *arguments)
                except MisuseError as error:
                    # An answer in a shape that none should have: the core counts the command as unknown.
                    log.warning("fencepost: %s", error)
                self._drain(mine)
            except BaseException as error:
                self._interrupted(error)
                raise
        if not self._draining:
            self.driver.after()

    def knows(self, key: int) -> bool:
        """Whether that contender has not ended. Takes no lock."""
        return key in self._contenders

    def reached(self) -> None:
        """There is a connection to the server."""
        if not self.reach.reached:
            with self.order:
                self.reach.arrived()

    def made(self, key: int, path: str) -> None:
        """The server has made a contender's node."""
        contender = self._contenders.get(key)
        if contender is not None:
            contender.node = path

    def failed(
        self, id: int, failure: str, cause: BaseException | None, mine: Contender | None = None
    ) -> None:
        """Nobody has answered a command; ``cause`` is the library's own exception."""
        self.note(id, cause)
        if cause is not None and is_fault(cause):
            self.fail(cause)
        self.put(self.hub.failed, id, failure, mine=mine)

    def fail(self, fault: BaseException) -> None:
        """A driver has failed by a programming error: everything ends at once, and nothing is tried again."""
        with self.order:
            if self._fault is not None or self.closed:
                return
            self._fault = fault
            for contender in self._contenders.values():
                end(contender, fault)
                self._ended(contender)
                self.owners.leave(contender)
            self._forget(*self._contenders)
            self.hub.shutdown(now())
            if self.hub.family == "zookeeper":
                # Nothing waits for another session.
                self.hub.session(now(), "closed")
            self._drain()

    def note(self, id: int, cause: BaseException | None) -> None:
        """Keeps the library's own exception, for the case that an event names this command."""
        if cause is not None:
            if not is_fault(cause):
                without_frames(cause)
            self._causes[id] = cause
            if not self.reach.reached:
                self.reach.trouble = cause
            if len(self._causes) > _MOST_CAUSES:
                self._causes.pop(next(iter(self._causes)), None)

    def tick(self, time: int) -> None:
        """It is that time at least, and what had come by then was put in; or somebody has been orphaned."""
        with self.order:
            while self._orphans:
                hold = self._orphans.popleft()
                if hold is None:
                    self._end_all()
                    self._leave(CONFIRM_WITHIN)
                elif hold.contender.key in self._contenders:
                    self._give_up(hold)
            if self._dispose_at is not None and self._dispose_at <= time:
                self._dispose_later()
            self.hub.handle_timeout(time)
            for contender in self.reach.overdue(time):
                self._give_up_reaching(contender)
            self._drain()
        self.driver.after()
        self.tell()

    def poke(self) -> None:
        """The hub may have something to do, although nothing was put in."""
        with self.order:
            self._drain()
        self.driver.after()

    @property
    def has_orphans(self) -> bool:
        """Whether a tick has something to clean up."""
        return bool(self._orphans)

    # The critical section.

    def _ended(self, contender: Contender) -> None:
        """Something has happened that somebody may wait for, perhaps the end."""
        self._waking.extend(contender.waiters)
        contender.waiters = []
        if contender.state is State.LOST:
            # Not from here: this may be anybody's thread, and an event has a lock of its own.
            for hold in contender.holds:
                self._later.extend(hold.on_loss)
                hold.on_loss = []

    def _give_up_reaching(self, contender: Contender) -> None:
        """There was no connection in time."""
        if contender.state is not State.WAITING or not self.knows(contender.key):
            return
        contender.state = State.REFUSED
        contender.error_of_client = self.reach.unreachable(contender.name, "no server has answered", None)
        self._ended(contender)
        self.owners.leave(contender)
        self._forget(contender.key)
        self.hub.close(now(), contender.key)

    def _forget(self, *keys: int) -> None:
        """These contenders have ended."""
        for key in keys:
            del self._contenders[key]
            self.driver.forget(key)

    def _drain(self, mine: Contender | None = None) -> None:
        """Carries out everything there is to do, and wakes whoever waits for it.

        Commands of ``mine`` go to its inbox: the calling thread will carry them out itself.
        """
        if (
            self._draining
        ):  # A library has failed a command while it was handed over: the loop outside goes on.
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
                    elif mine is not None and output.key == mine.key and self._fault is None:
                        mine.inbox.append(output)
                    else:
                        self._submit(output)
                    del outputs[0]
            if self._idle and self.left == 0:
                self._waking.extend(self._idle)
                self._idle = []
            while self._waking:
                self._waking[0]()
                del self._waking[0]
            until = now() if self._later else self.reach.sooner(until)
            if self._dispose_at is not None:
                until = self._dispose_at if until is None else min(until, self._dispose_at)
        except BaseException:
            # The command at the head may have been handed over or not; an event may be told twice.
            if outputs and isinstance(outputs[0], Command):
                self.hub.failed(now(), outputs[0].id, "unknown")
                del outputs[0]
            raise
        finally:
            self._draining = False
        self.timer.plan(until)

    def _interrupted(self, error: BaseException) -> None:
        """A critical section was left in the middle, by Ctrl-C for example: the next tick does the rest."""
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
        if event.reason == "unreachable":
            contender.error_of_client = self.reach.unreachable(contender.name, event.text or "", cause)
        self._ended(contender)
        if contender.is_over:
            # It has said its last word: it goes as soon as the server has answered for what it leaves.
            self.hub.close(now(), event.key)
            self.owners.leave(contender)
            self._forget(event.key)
