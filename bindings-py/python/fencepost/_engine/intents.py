"""The part of an engine that extends, releases and downgrades grants."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .._fencepost import Hub, misuse
from ..hub._clock import now
from .contender import Contender, State, Wake
from .driver import Driver


class Intents:
    """What an application asks of a grant. Each call begins the work; the answer is an event."""

    hub: Hub
    driver: Driver
    order: threading.RLock
    _waking: list[Wake]

    def _drain(self, mine: Contender | None = None) -> None:
        raise NotImplementedError

    def _interrupted(self, error: BaseException) -> None:
        raise NotImplementedError

    def extend(self, contender: Contender, mine: bool) -> None:
        """Renews the lease of a grant."""
        self._ask(self._extend, contender, mine)

    def release(self, contender: Contender, mine: bool) -> None:
        """Releases a grant."""
        self._ask(self._release, contender, mine)

    def downgrade(self, contender: Contender, mine: bool) -> None:
        """Turns a writer's grant into a reader's."""
        self._ask(self._downgrade, contender, mine)

    def _extend(self, contender: Contender) -> None:
        self.hub.extend(now(), contender.key)

    def _release(self, contender: Contender) -> None:
        self.hub.release(now(), contender.key)
        contender.state = State.RELEASING
        self._waking.extend(contender.waiters)
        contender.waiters = []

    def _downgrade(self, contender: Contender) -> None:
        self.hub.downgrade(now(), contender.key)
        contender.downgrade = None

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

    def why_not_held(self, contender: Contender) -> Exception:
        """The error for a call that needs a grant."""
        return contender.error() if contender.state is State.LOST else misuse("not-held")
