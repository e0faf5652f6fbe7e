"""The calls of grants in the client for threads. Each call starts work in the engine, and waits for its
result.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import wraps
from itertools import starmap
from typing import Concatenate, ParamSpec, TypeVar

from .._engine.claim import ClaimContender
from .._engine.closing import CONFIRM_WITHIN, unconfirmed
from .._engine.contender import Contender, State, Until, answered, decided, over, turned
from .._engine.engine import Engine
from .._engine.reentrancy import may_wait
from .._engine.threads import SHUTTING_DOWN, cannot_wait
from .._engine.timer import LATE, TURN
from .._engine.waiter import Waiter
from .._fencepost import Command, Settings
from ..errors import FencepostError
from .arguments import Duration, micros
from .connect import SyncDriver
from .noncopyable import Noncopyable

INSIDE = (
    "a finalizer or a signal handler makes it while this thread is inside the client. Make the call in "
    "another thread"
)
"""Why a call cannot wait on a thread that has to do the client's own work first."""
ONCE = ((),)
"""The arguments of one call that takes no arguments."""

Given = TypeVar("Given")
Asking = TypeVar("Asking", bound=Contender)
Rest = ParamSpec("Rest")
Verb = Callable[Concatenate["Calls", Asking, Rest], Given]


def to_the_end(verb: Verb[Asking, Rest, Given]) -> Verb[Asking, Rest, Given]:
    """Decorates a method that carries out the commands of a contender. If the thread is interrupted, the
    driver takes over these commands.
    """

    @wraps(verb)
    def carried(calls: Calls, contender: Asking, /, *rest: Rest.args, **named: Rest.kwargs) -> Given:
        try:
            return verb(calls, contender, *rest, **named)
        except FencepostError:
            raise
        except BaseException:
            calls._engine.hand_over(contender)
            raise

    return carried


class Calls(Noncopyable):
    """The part of a client that its locks and grants use. They keep the client alive."""

    _engine: Engine
    _driver: SyncDriver

    @to_the_end
    def _release(self, contender: Contender) -> None:
        engine = self._engine
        engine.check_held(contender)
        if not may_wait():
            if contender.state is not State.HELD:
                raise engine.why_not_held(contender)
            contender.state = State.RELEASED  # The next tick releases it.
            engine.orphan(contender)
            return
        engine.release(contender, self._driver.inline)
        if not self._wait(contender, over, CONFIRM_WITHIN):
            raise unconfirmed(contender)
        if contender.state is not State.RELEASED:
            raise contender.error()

    @to_the_end
    def _downgrade(self, contender: Contender) -> None:
        engine = self._engine
        engine.check_held(contender)
        engine.downgrade(contender, self._driver.inline)
        self._wait(contender, turned)
        error = contender.why_not_downgraded()
        if error is not None:
            raise error

    @to_the_end
    def _extend(self, contender: Contender) -> None:
        engine = self._engine
        engine.check_held(contender)
        before = contender.extended
        engine.extend(contender, self._driver.inline)
        self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    def _ask(
        self, contender: Asking, checked: Settings, wait: int | bool, make: Callable[[Asking], Given]
    ) -> Given:
        """Waits until the server has decided, and returns the result of ``make``, which raises after a
        refusal.
        """
        engine = self._engine
        engine.check()
        try:
            engine.enter(contender, checked, wait, self._driver.inline)
            self._wait(contender, decided)
            return make(contender)
        except BaseException:
            engine.abandon(contender)
            raise

    @to_the_end
    def _complete(self, contender: ClaimContender, tag: str, result: bytes) -> None:
        engine = self._engine
        engine.check_end(contender)
        engine.end(contender, self._driver.inline, engine.hub.complete, tag, result)
        self._wait(contender, answered)
        contender.assert_ended(State.COMPLETED, State.REPLAYED)

    @to_the_end
    def _give_up(self, contender: ClaimContender, leaves: bool) -> None:
        """Ends a claim without a result: leaves it, or releases it."""
        engine = self._engine
        engine.check_end(contender)
        if leaves and not may_wait() and contender.state is State.HELD:
            contender.state = State.RELEASED  # The next tick leaves it.
            engine.orphan(contender)
            return
        verb = engine.hub.leave if leaves else engine.hub.release
        engine.end(contender, self._driver.inline, verb)
        if not self._wait(contender, answered, CONFIRM_WITHIN):
            raise unconfirmed(contender)
        contender.assert_ended(State.RELEASED)

    def _wait_revoke_requested(self, contender: Contender, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        self._wait(
            contender,
            lambda contender: contender.revoke_requested or contender.state is not State.HELD,
            limit,
        )
        return contender.revoke_requested

    def _wait(self, contender: Contender, until: Until, limit: float | None = None) -> bool:
        """Waits until the condition is true, and meanwhile carries out the contender's commands. Returns
        False if the time is up.
        """
        inbox, engine = contender.inbox, self._engine
        taken: deque[Command] = deque(maxlen=1)
        end = None if limit is None else time.monotonic() + limit
        try:
            while True:
                while inbox:
                    try:
                        # This is one step for the interpreter. A signal between a pop and an assignment would
                        # lose the command.
                        taken.extend(starmap(inbox.popleft, ONCE))
                    except IndexError:  # Another thread that uses this grant has taken the command.
                        break
                    self._driver.carry_out(taken[0], contender)
                if until(contender):
                    return True
                if not may_wait():
                    raise cannot_wait(INSIDE, contender.name)
                waiter = Waiter()
                with engine.order:
                    if until(contender) or inbox:
                        continue
                    contender.waiters.append(waiter.wake)
                if end is None:
                    if not waiter.wait(None):
                        raise cannot_wait(SHUTTING_DOWN, contender.name)
                elif not waiter.wait(end - time.monotonic()):
                    if time.monotonic() - end > LATE / 1e6:
                        # The process was paused. The client first reads the replies that have arrived since
                        # then.
                        waiter.wait(TURN / 1e6)
                    return until(contender)
        except BaseException:
            engine.hand_over(contender, taken[0] if taken else None)
            raise
