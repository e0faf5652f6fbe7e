"""The fencepost client of a KazooClient. It is made when it is first needed, and closed when the KazooClient
stops.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from kazoo.exceptions import (
    AuthFailedError,
    CancelledError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    LockTimeout,
    NoAuthError,
    NoNodeError,
)
from kazoo.protocol.states import KazooState, KeeperState

from ..._client.client import Client
from ..._engine.contender import Contender, Until, decided
from ..._engine.log import log
from ..._engine.waiter import Waiter
from ..._fencepost import Settings
from ...errors import CleanupIncomplete, FencepostError, Refused
from ...hub._clock import now

_BRIDGE = "_fencepost_bridge"
_OVER = (KeeperState.CLOSED, KeeperState.AUTH_FAILED)


class Bridge(Client):
    """The fencepost client of a KazooClient."""

    _making = threading.Lock()

    @classmethod
    def of(cls, kazoo: Any) -> Bridge:
        """The bridge of a KazooClient. Makes one if there is none."""
        with cls._making:
            bridge: Bridge | None = getattr(kazoo, _BRIDGE, None)
            if bridge is None or bridge.ending:
                bridge = cls(kazoo)
                setattr(kazoo, _BRIDGE, bridge)
            return bridge

    def __init__(self, kazoo: Any) -> None:
        self.ending = False
        self.recipes: weakref.WeakSet[Any] = weakref.WeakSet()
        self._kazoo = kazoo
        super().__init__(kazoo, connect_timeout=None)
        kazoo.add_listener(self._listen)

    def contend(
        self, contender: Contender, checked: Settings, wait: int | bool, is_cancelled: Callable[[], bool]
    ) -> None:
        """Acquires: waits until the server has granted or refused the lock."""
        engine = self._engine
        engine.check()
        try:
            engine.enter(contender, checked, wait, self._driver.inline)
            if is_cancelled():
                engine.cancel(contender)
            self._wait(contender, decided)
        except BaseException:
            engine.abandon(contender)
            raise

    def cancel(self, contender: Contender) -> None:
        """Cancels an acquire. Threads that watch the contender check their condition again."""
        engine = self._engine
        engine.cancel(contender)
        with engine.order:
            waiters, contender.waiters = contender.waiters, []
        for wake in waiters:
            wake()

    def watch(self, contender: Contender, until: Until, limit: float | None) -> None:
        """Waits until the condition may be true, or the time is up. It does not carry out the contender's
        commands: the thread that acquires does.
        """
        engine = self._engine
        engine.check_process()
        waiter = Waiter()
        with engine.order:
            if until(contender):
                return
            contender.waiters.append(waiter.wake)
        waiter.wait(limit)

    def abandon(self, contender: Contender) -> None:
        """Ends an interrupted acquire or release, in any state."""
        self._engine.abandon(contender)

    def give_back(self, contender: Contender) -> None:
        """Releases a grant."""
        self._release(contender)

    def _listen(self, state: str) -> None:
        # On kazoo's thread.
        if state != KazooState.CONNECTED:
            for recipe in list(self.recipes):
                recipe.wake_event.set()
        # The KazooClient was stopped. If the program starts it again, it needs a new bridge.
        if state == KazooState.LOST and self._kazoo.client_state in _OVER and not self.ending:
            self.ending = True
            threading.Thread(target=self._end, name="fencepost close", daemon=True).start()

    def _end(self) -> None:
        self._kazoo.remove_listener(self._listen)
        # Before the close, the holders must learn of the loss that the driver has reported.
        self._engine.tick(now())
        try:
            self.close()
        except CleanupIncomplete as error:
            log.debug("%s", error)
        with self._making:
            if getattr(self._kazoo, _BRIDGE, None) is self:
                delattr(self._kazoo, _BRIDGE)

    def __del__(self) -> None:
        """Unlike Client, issues no warning: the program does not have to close a bridge."""


_KAZOOS: dict[str, type[Exception]] = {
    "auth-failed": AuthFailedError,
    "cancelled": CancelledError,
    "client-closed": ConnectionClosedError,
    "connection-closed": ConnectionClosedError,
    "inconsistent-permits": ValueError,
    "no-parent": NoNodeError,
    "no-permission": NoAuthError,
    "not-available": LockTimeout,
    "timeout": LockTimeout,
    "unreachable": ConnectionLoss,
}
"""The exceptions of kazoo with the same meaning."""


def translated(error: FencepostError, timed: bool) -> Exception:
    """The exception that kazoo would raise. ``timed``: the acquire had a timeout."""
    cause = error.__cause__
    if error.name == "unreachable" and timed:
        raised: Exception = LockTimeout(str(error))
    elif error.name in _KAZOOS:
        raised = _KAZOOS[error.name](str(error))
    elif isinstance(error, Refused):
        raised = cause if isinstance(cause, KazooException) else KazooException(str(error))
    else:
        return error
    raised.__cause__ = error
    return raised
