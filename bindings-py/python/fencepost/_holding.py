"""What an engine does with the grants that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._clock import now
from ._contender import Contender, Hold, State, Until, Wake, over, turned
from ._fencepost import Hub, misuse
from .errors import MisuseError

if TYPE_CHECKING:
    import threading

    from ._driver import Driver
    from ._owners import Owners


class Holding:
    """The part of an engine that extends, releases and downgrades holds."""

    hub: Hub
    driver: Driver
    order: threading.RLock
    owners: Owners
    _waking: list[Wake]

    def _drain(self, mine: Contender | None = None) -> None:
        raise NotImplementedError

    def _interrupted(self, error: BaseException) -> None:
        raise NotImplementedError

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
