"""The engine: one hub with its driver. In one critical section it polls the hub and hands the commands to the
driver.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..errors import MisuseError
from ..hub._clock import now
from .closing import CONFIRM_WITHIN, Closing
from .contender import Contender, State
from .driver import Timer
from .faults import is_fault
from .intents import Intents
from .reporter import Reporter, ThreadReporter


class Engine(Intents, Closing):
    """Everything that the clients for threads and for asyncio have in common."""

    def start(self, timer: Timer) -> None:
        """Begins to work."""
        self.timer = timer
        self.driver.start(self)

    def make_reporter(self) -> Reporter:
        """See CriticalSection."""
        return ThreadReporter(self.callback_failed)

    # Calls of drivers and timers.

    def report(self, verb: Callable[..., None], *arguments: object, mine: Contender | None = None) -> None:
        """See EnginePort."""
        with self.order:
            try:
                try:
                    verb(now(), *arguments)
                except MisuseError as error:
                    # The reply has a form that this command cannot have. The core treats the outcome as
                    # unknown.
                    self.reports.odd_reply(error)
                self._drain(mine)
            except BaseException as error:
                self._interrupted(error)
                raise
        if not self._draining:
            self.driver.after()

    def knows(self, key: int) -> bool:
        """See EnginePort."""
        return self.hub.serves(key)

    def connected(self) -> None:
        """See EnginePort."""
        if not self.reachability.reached:
            with self.order:
                self.reachability.connected()
        self._report_connection(logging.INFO, "connected")

    def disconnected(self, why: object) -> None:
        """See EnginePort."""
        self._report_connection(logging.INFO, "the connection is lost", why)

    def connect_failed(self, error: BaseException) -> None:
        """See EnginePort."""
        self.reachability.last_error = error
        self._report_connection(logging.DEBUG, "cannot connect", error)

    def _report_connection(self, level: int, text: str, why: object = None) -> None:
        if self.reports.wants(level):
            with self.order:
                self.reports.connection(level, text, why)

    def node_created(self, key: int, path: str) -> None:
        """See EnginePort."""
        contender = self._contenders.get(key)
        if contender is not None:
            contender.node = path

    def failed(
        self, id: int, failure: str, cause: BaseException | None, mine: Contender | None = None
    ) -> None:
        """See EnginePort."""
        self.note(id, cause)
        if cause is not None:
            self._report_connection(logging.DEBUG, f"no answer ({failure})", cause)
        if cause is not None and is_fault(cause):
            self.fail(cause)
        self.report(self.hub.failed, id, failure, mine=mine)

    def tick(self, time: int) -> None:
        """Does the work that is due. A timer calls this at that time or later, when all inputs that arrived
        before it are in the hub. It also calls this after :meth:`orphan`.
        """
        with self.order:
            while self._orphans:
                contender = self._orphans.popleft()
                if contender is None:
                    self._end_all()
                    self._dispose_within(CONFIRM_WITHIN)
                else:
                    self._let_go(contender)
            if self._dispose_at is not None and self._dispose_at <= time:
                self._dispose_later()
            self.hub.handle_timeout(time)
            for contender in self.reachability.overdue(time):
                self._give_up_reaching(contender)
            self._drain()
        self.driver.after()
        self.run_callbacks()

    def end_if_stranded(self) -> None:
        """See EnginePort."""

    def poll(self) -> None:
        """See EnginePort."""
        with self.order:
            self._drain()
        self.driver.after()

    @property
    def has_orphans(self) -> bool:
        """Whether the program has dropped a grant or the client, and no tick has released it yet."""
        return bool(self._orphans)

    def _give_up_reaching(self, contender: Contender) -> None:
        """Refuses an acquire for which no connection was made in time."""
        if contender.state is not State.WAITING or contender.key not in self._contenders:
            return
        contender.state = State.REFUSED
        contender.error_of_client = self.reachability.unreachable(
            contender.name, "no server answered in time", None
        )
        self._ended(contender)
        self._close(contender)
