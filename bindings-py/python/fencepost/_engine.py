"""The engine: one hub with its driver, and the critical section in which the hub is polled and its commands
are handed over.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from ._clock import now
from ._contender import Contender, Hold, State, Until, Wake, over, turned
from ._fencepost import Command, Event, Hub, Settings, misuse
from ._owners import Owners
from .errors import MisuseError, WrongProcess

log = logging.getLogger("fencepost")

_MOST_CAUSES = 256


class Timer(Protocol):
    """Calls the engine's tick when it is time."""

    def plan(self, until: int | None) -> None:
        """The engine wants a tick by then at the latest. Called inside the critical section."""

    def nudge(self) -> None:
        """The engine wants a tick now. Called from finalizers too: takes no lock."""

    def stop(self) -> None:
        """No more ticks."""


class Driver(Protocol):
    """What an engine asks of a driver. ``docs/drivers.md`` says what an operation means."""

    @property
    def inline(self) -> bool:
        """Whether a waiting thread carries out its commands itself, with ``carry_out``."""

    def start(self, engine: Engine) -> None:
        """Begin to report to this engine, with ``put``, ``answered`` and ``failed``."""

    def submit(self, command: Command) -> None:
        """Hand a command over. Called inside the critical section: neither blocks nor waits."""

    def carry_out(self, command: Command, contender: Contender) -> None:
        """Carry a command out at once, on the calling thread, outside of the critical section."""

    def after(self) -> None:
        """Called after each critical section, outside of it."""


class Engine:
    """Everything that the clients for threads and for asyncio have in common."""

    def __init__(self, hub: Hub, driver: Driver) -> None:
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
        self.dispose: Wake = lambda: None
        """What is left to do when a client was dropped without being closed, and nothing is pending any more.
        """

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

    def check_process(self) -> None:
        """Raises WrongProcess in any other process than the one that made the client."""
        if os.getpid() != self.pid:
            raise WrongProcess(
                f"this client was made in process {self.pid}: after a fork, make a new one in each process"
            )

    def enter(self, hold: Hold, settings: Settings, patience: int | bool, mine: bool) -> None:
        """Opens a machine and has it acquire, unless the owner holds the lock already."""
        with self.order:
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
                self._drain(contender if mine else None)
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()

    def extend(self, hold: Hold, mine: bool) -> None:
        """Makes a grant last from now on, for all its holds."""
        self._ask(self._extend, hold, mine)

    def release(self, hold: Hold, mine: bool) -> Until | None:
        """Ends a hold. The last one releases the grant, the last that may write downgrades it. Gives what to
        wait for.
        """
        return self._ask(self._release, hold, mine)

    def downgrade(self, hold: Hold, mine: bool) -> Until | None:
        """Turns a writer's hold into a reader's. The last one downgrades the grant. Gives what to wait
        for.
        """
        return self._ask(self._downgrade, hold, mine)

    def restore(self, hold: Hold) -> None:
        """The server has refused to downgrade: the hold is a writer's as before."""
        with self.order:
            hold.shared = hold.contender.shared = False

    def _extend(self, hold: Hold) -> Until | None:
        self.hub.extend(now(), hold.contender.key)
        return None

    def _release(self, hold: Hold) -> Until | None:
        contender = hold.contender
        until: Until | None = over
        if len(contender.holds) == 1:
            self.hub.release(now(), contender.key)
            contender.state = State.RELEASING
            self.owners.leave(contender)
        else:
            contender.holds.discard(hold)
            until = self._yield(contender)
        if contender.waiters:
            self._waking.extend(contender.waiters)
            contender.waiters = []
        return until

    def _downgrade(self, hold: Hold) -> Until | None:
        if hold.contender.kind != "writer" or hold.shared:
            raise misuse("not-a-writer")
        hold.shared = True
        try:
            return self._yield(hold.contender)
        except MisuseError:
            hold.shared = False
            raise

    def _yield(self, contender: Contender) -> Until | None:
        """Downgrades a grant of which only holds through the reader are left."""
        if contender.kind != "writer" or contender.shared:
            return None
        if not all(hold.shared for hold in contender.holds):
            return None
        self.hub.downgrade(now(), contender.key)
        contender.shared = True
        contender.downgrade = None
        return turned

    def _ask(self, verb: Callable[[Hold], Until | None], hold: Hold, mine: bool) -> Until | None:
        """Does something with a grant."""
        with self.order:
            try:
                if hold.state is not State.HELD:
                    raise self.why_not_held(hold)
                until = verb(hold)
                self._drain(hold.contender if mine else None)
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()
        return until

    def why_not_held(self, hold: Hold) -> Exception:
        """The error for a call that needs a grant."""
        return hold.contender.error() if hold.state is State.LOST else misuse("not-held")

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
        if self._contenders.pop(contender.key, None) is not None:
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

    def shut(self, idle: Wake | None = None) -> bool:
        """Closes everything; ``idle`` is called once nothing is pending. Whether it was open until now."""
        with self.order:
            if self.closed:
                return False
            self.closed = True
            try:
                self.hub.shutdown(now())
                for contender in self._contenders.values():
                    contender.state = State.CLOSED
                    self._waking.extend(contender.waiters)
                    contender.waiters = []
                self._contenders.clear()
                if idle is not None:
                    self._idle.append(idle)
                self._drain()
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()
        return True

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
        self.put(self.hub.failed, id, failure, mine=mine)

    def note(self, id: int, cause: BaseException | None) -> None:
        """Keeps the library's own exception, for the case that an event names this command."""
        if cause is not None:
            self._causes[id] = cause
            if len(self._causes) > _MOST_CAUSES:
                self._causes.pop(next(iter(self._causes)), None)

    def tick(self) -> None:
        """Time has passed, or somebody has been orphaned."""
        with self.order:
            time = now()
            while self._orphans:
                hold = self._orphans.popleft()
                if hold is None:
                    self.closed = True
                    self._contenders.clear()
                    self._idle.append(self._dispose_later)
                    self.hub.shutdown(time)
                elif hold.contender.key in self._contenders:
                    self._give_up(hold)
            self.hub.handle_timeout(time)
            self._drain()
        self.driver.after()
        while self._later:
            self._later.popleft()()

    def poke(self) -> None:
        """The hub may have something to do, although nothing was put in."""
        with self.order:
            self._drain()
        self.driver.after()

    def _dispose_later(self) -> None:
        self._later.append(self.dispose)

    @property
    def has_orphans(self) -> bool:
        """Whether a tick has something to clean up."""
        return bool(self._orphans)

    # The critical section.

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
                    elif mine is not None and output.key == mine.key:
                        mine.inbox.append(output)
                    else:
                        self._submit(output)
                    del outputs[0]
            if self._idle and self.hub.pending == 0:
                self._waking.extend(self._idle)
                self._idle = []
            while self._waking:
                self._waking[0]()
                del self._waking[0]
            if self._later:
                until = now()
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
        try:
            self.driver.submit(command)
        except Exception as error:
            log.exception("fencepost: a driver could not hand over a command")
            self.note(command.id, error)
            self.hub.failed(now(), command.id, "unknown")

    def _tell(self, event: Event) -> None:
        contender = self._contenders.get(event.key)
        if contender is None:
            return
        cause = None if event.command is None else self._causes.get(event.command)
        if not contender.tell(event, cause):
            return
        self._waking.extend(contender.waiters)
        contender.waiters = []
        if contender.is_over:
            if contender.state is State.LOST:
                # Not from here: this may be anybody's thread, and an event has a lock of its own.
                for hold in contender.holds:
                    self._later.extend(hold.on_loss)
                    hold.on_loss = []
            # It has said its last word: it goes as soon as the server has answered for what it leaves.
            self.hub.close(now(), event.key)
            self.owners.leave(contender)
            del self._contenders[event.key]
