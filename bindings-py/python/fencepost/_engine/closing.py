"""The close of an engine: it releases all grants, reports losses, and closes the driver."""

from __future__ import annotations

import sys
import threading

from ..errors import CleanupIncomplete, ReleaseUnconfirmed
from ..hub._clock import now
from .contender import Contender, Wake
from .critical_section import CriticalSection
from .wording import shown

CONFIRM_WITHIN = 5.0
"""The time for which a release or a close waits for the server's replies, in seconds."""


class Closing(CriticalSection):
    """The part of an engine that closes it."""

    def shut_down(self, idle: Wake) -> None:
        """Closes all contenders. Calls ``idle`` when nothing is pending; a second call does only that."""
        with self.order:
            try:
                self._end_all()
                self._idle.append(idle)
                self._drain()
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()
        self.run_callbacks()

    def close_in_background(self, within: float) -> None:
        """Continues a close whose caller was interrupted. The engine closes the driver when nothing is
        pending, or after ``within`` seconds.
        """
        with self.order:
            self._end_all()
            self._dispose_within(within)
            self._drain()
        self.driver.after()

    def _dispose_within(self, within: float) -> None:
        self._idle.append(self._dispose_later)
        self._dispose_at = now() + int(within * 1e6)

    def _end_all(self) -> None:
        """Ends every contender. A grant ends as lost, because the program has not released it."""
        self.closed = True
        if self._is_shut_down:
            return
        for contender in self._contenders.values():
            contender.close()
            self._ended(contender)
        self.hub.shutdown(now())
        self._contenders.clear()
        self._is_shut_down = True

    def run_callbacks(self) -> None:
        """Called outside of the section: notifies of losses, and closes the driver if that is due."""
        while self._callbacks:
            try:
                self._callbacks.popleft()()
            except Exception as error:
                self.callback_failed(error)

    def callback_failed(self, error: Exception) -> None:
        """Called when a callback or code of the program has failed, such as a handler of its logging. It must
        not end the client's thread.
        """
        thread = threading.current_thread()
        threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))

    def _dispose_later(self) -> None:
        self._dispose_at = None
        self._callbacks.append(self.dispose)

    @property
    def unconfirmed(self) -> int:
        """The number of contenders whose end the server has not confirmed, or has refused."""
        return self.unanswered + self.hub.unreleased if self.reachability.reached else 0


def incomplete(left: int) -> CleanupIncomplete:
    """The error of the first close, if the end of ``left`` contenders is not confirmed."""
    return CleanupIncomplete(
        f"the server has not confirmed the end of {left} contender{'' if left == 1 else 's'} of this client. "
        "Until their leases or the session end, other clients may wait for them",
        count=left,
    )


def unconfirmed(contender: Contender) -> ReleaseUnconfirmed:
    """The error of a release that the server has not confirmed in time."""
    if sys.is_finalizing():
        return ReleaseUnconfirmed(
            f"{shown(contender.name)}: the interpreter is shutting down, so the client cannot wait until the "
            "server confirms the release. Until the lease or the session ends, other clients may wait"
        )
    return ReleaseUnconfirmed(
        f"{shown(contender.name)}: the server has not confirmed the release within {CONFIRM_WITHIN:g} s. The "
        "client continues in the background; until the server confirms it, other clients may wait"
    )
