"""How an engine ends: everything is given back, losses are told, and what is left is disposed of."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ._clock import now
from ._contender import Contender, Wake
from ._fencepost import Hub

if TYPE_CHECKING:
    import threading

    from ._driver import Driver
    from ._reach import Reach

CONFIRM_WITHIN = 5.0
"""For how many seconds a release, or a close, waits for the server's answers."""


class Closing:
    """The part of an engine that closes it."""

    hub: Hub
    driver: Driver
    order: threading.RLock
    reach: Reach
    closed: bool
    dispose: Callable[..., None]
    _contenders: dict[int, Contender]
    _idle: list[Wake]
    _later: deque[Wake]
    _dispose_at: int | None
    _shut: bool

    def _drain(self, mine: Contender | None = None) -> None:
        raise NotImplementedError

    def _interrupted(self, error: BaseException) -> None:
        raise NotImplementedError

    def _ended(self, contender: Contender) -> None:
        raise NotImplementedError

    def _forget(self, *keys: int) -> None:
        raise NotImplementedError

    def shut(self, idle: Wake) -> None:
        """Closes everything; ``idle`` is called once nothing is pending. Again it only waits for that."""
        with self.order:
            try:
                self._end_all()
                self._idle.append(idle)
                self._drain()
            except BaseException as error:
                self._interrupted(error)
                raise
        self.driver.after()
        self.tell()

    def leave(self, within: float) -> None:
        """Nobody waits for the end of a close any more: what is left is disposed of when nothing is pending,
        or after so many seconds.
        """
        with self.order:
            self._end_all()
            self._leave(within)
            self._drain()
        self.driver.after()

    def _leave(self, within: float) -> None:
        self._idle.append(self._dispose_later)
        self._dispose_at = now() + int(within * 1e6)

    def _end_all(self) -> None:
        """Ends every contender. A grant that is held is over without a release of its owner: it is lost."""
        self.closed = True
        if self._shut:
            return
        for contender in self._contenders.values():
            contender.close()
            self._ended(contender)
        self.hub.shutdown(now())
        self._forget(*self._contenders)
        self._shut = True

    def tell(self) -> None:
        """Tells of losses, outside of the section; and disposes of what is left."""
        while self._later:
            self._later.popleft()()

    def _dispose_later(self) -> None:
        self._dispose_at = None
        self._later.append(self.dispose)

    @property
    def left(self) -> int:
        """How many contenders the server has not answered for. What never reached one has left nothing."""
        return self.hub.pending if self.reach.reached else 0
