"""The part of an engine that the application calls: it acquires, extends, releases and downgrades."""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable

from .._fencepost import Command, Settings, misuse
from ..errors import FencepostError, MisuseError, WrongProcess
from ..hub._clock import now
from .claim import ClaimContender
from .contender import Contender, State
from .critical_section import CriticalSection
from .faults import driver_error
from .threads import SHUTTING_DOWN, cannot_wait, is_free
from .wording import shown


class Intents(CriticalSection):
    """The calls of an application. Each call begins the work; its result is an event."""

    def check(self) -> None:
        """Raises if a call that waits is not possible here."""
        self.check_open()
        self.check_threads()

    def check_threads(self, *locks: threading.RLock) -> None:
        """Raises MisuseError if a call would wait for ever for the client's threads, or for one of its locks.

        This happens if gevent or eventlet has patched the threads after the client was made: the client's
        threads and locks are still the unpatched ones. It also happens in a finalizer that runs after the
        interpreter has stopped the threads: one of them may have stopped while it held a lock.
        """
        if sys.is_finalizing() and (self.driver.needs_thread or not all(map(is_free, (self.order, *locks)))):
            raise cannot_wait(SHUTTING_DOWN)
        if _thread.allocate_lock is not self.allocate_lock:
            by = str(getattr(_thread.allocate_lock, "__module__", "another package")).partition(".")[0]
            raise MisuseError(
                f"this client was made before {by} patched Python's threads, so this call would wait for "
                "ever: make the client after the patch. It is best to patch in the program's first line",
                543,
                "cannot-wait",
            )

    def check_held(self, contender: Contender) -> None:
        """Raises if a call that needs a grant is not possible here. The call itself reports a loss."""
        if contender.state is State.LOST:
            self.check_threads()
        else:
            self.check()

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

    def enter(
        self, contender: Contender, settings: Settings, acquire_timeout: int | bool, mine: bool
    ) -> None:
        """Begins an acquire. Raises MisuseError if the owner already waits, or holds the reader and acquires
        the writer.
        """
        with self.order:
            self.check()  # Again: another thread may have closed the client since the last check.
            try:
                # Without ticks, no acquire would end in time, and no lease would be renewed.
                self.timer.ensure()
                random = os.urandom(24)
                time = now()
                key = self.hub.open(time, settings, random[:16], int.from_bytes(random[16:], "big"))
                contender.key = key
                self._contenders[key] = contender
                self.reports.begins(contender, time)
                if acquire_timeout is True:
                    self.hub.acquire(time, key)
                elif acquire_timeout is False:
                    self.hub.try_acquire(time, key)
                else:
                    self.hub.acquire(time, key, acquire_timeout)
                self.reachability.wait(contender, time)
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
        """Ends an interrupted acquire, in any state. The client deletes the node or key of the acquire."""
        with self.order:
            if contender.key in self._contenders:
                if isinstance(contender, ClaimContender):
                    contender.withdraw(self.hub)
                self._close(contender)
            if not contender.is_over:
                contender.state = State.CLOSED
            self.reports.changed(contender)
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

    def hand_over(self, contender: Contender, command: Command | None = None) -> None:
        """Called after an interrupt in the thread that carried out a contender's commands, perhaps during
        ``command``. The driver takes over the other commands.
        """
        with self.order:
            if command is not None:
                self.hub.failed(now(), command.id, "unknown")
            while contender.inbox:
                self._submit(contender.inbox.popleft())
            self._drain()

    def extend(self, contender: Contender, mine: bool) -> None:
        """Renews the lease of a grant."""
        self._ask(self._extend, contender, mine)

    def release(self, contender: Contender, mine: bool) -> None:
        """Releases a grant."""
        self._ask(self._release, contender, mine)

    def downgrade(self, contender: Contender, mine: bool) -> None:
        """Turns a writer's grant into a reader's, or joins the downgrade of a call that was cancelled."""
        self._ask(self._downgrade, contender, mine)

    def _extend(self, contender: Contender) -> None:
        self.hub.extend(now(), contender.key)

    def _release(self, contender: Contender) -> None:
        self._releasing(contender, self.hub.release)

    def _releasing(self, contender: Contender, verb: Callable[..., None], *arguments: object) -> None:
        time = now()
        # The state changes first: a signal handler may handle the reply before this method ends. No interrupt
        # can occur between the state and the call of the hub.
        before, contender.state = contender.state, State.RELEASING
        try:
            verb(time, contender.key, *arguments)
        # The hub has refused the call, or cannot read an argument. Nothing has begun.
        except (FencepostError, TypeError, ValueError):
            contender.state = before
            raise
        self._waking.extend(contender.waiters)
        contender.waiters = []

    def _downgrade(self, contender: Contender) -> None:
        if contender.is_downgrading:
            return
        time, before = now(), contender.downgrade
        # These change first, as for a release.
        contender.downgrade, contender.downgrade_unreported = None, True
        try:
            self.hub.downgrade(time, contender.key)
        except FencepostError:
            contender.downgrade, contender.downgrade_unreported = before, False
            raise

    def _ask(self, verb: Callable[[Contender], None], contender: Contender, mine: bool) -> None:
        with self.order:
            try:
                if contender.state is not State.HELD:
                    raise self.why_not_held(contender)
                verb(contender)
                self._drain(contender if mine else None)
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()

    def check_end(self, contender: ClaimContender) -> None:
        """Raises if a complete, release or leave of this claim is not possible here."""
        if self.closed and contender.state is State.LOST:
            raise contender.error()
        self.check()

    def end(
        self, contender: ClaimContender, mine: bool, verb: Callable[..., None], *arguments: object
    ) -> None:
        """Completes, releases or leaves a claim, perhaps after its loss. ``verb`` is a method of the hub,
        called with the time, the key and ``arguments``.
        """
        with self.order:
            try:
                is_lost = contender.state is State.LOST
                if contender.key not in self._contenders or not (is_lost or contender.state is State.HELD):
                    raise self.why_not_held(contender)
                try:
                    self._releasing(contender, verb, *arguments)
                except MisuseError as error:
                    raise (contender.error() if is_lost else error) from None
                contender.refusal = None
                self._drain(contender if mine else None)
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()

    def why_not_held(self, contender: Contender) -> Exception:
        """The error for a call that needs a grant."""
        return contender.error() if contender.state is State.LOST else misuse("not-held")

    def orphan(self, contender: Contender | None = None) -> None:
        """Called when the program has dropped a grant, or the whole client (None). The next tick releases or
        closes it. Finalizers call this, so it takes no lock.
        """
        self._orphans.append(contender)
        self.timer.wake()
