"""A contender that claims an idempotent operation."""

from __future__ import annotations

from .._fencepost import Event, Hub
from ..errors import ClaimLost
from ..hub._clock import now
from .contender import Contender, State


class ClaimContender(Contender):
    """A claim. After a loss its machine stays open, because the program may still end the claim."""

    lost = ClaimLost

    __slots__ = ("refusal", "takeovers")

    def __init__(self, name: str, label: str) -> None:
        super().__init__(name, label)
        self.takeovers = 0
        self.refusal: tuple[Event, BaseException | None] | None = None
        """The server's refusal of the last complete, release or leave: the event, and the client library's
        own exception.
        """

    def handle_event(self, event: Event, cause: BaseException | None) -> bool:
        """See Contender."""
        if event.name == "acquired":
            self.takeovers = event.takeovers or 0
        if event.name != "refused" or self.state is not State.RELEASING:
            return super().handle_event(event, cause)
        self.refusal = (event, cause)
        if self.valid_until is None or now() < self.valid_until:
            self.state = State.HELD
        else:
            self.state, self.event, self.cause = State.LOST, event, cause
        return True

    @property
    def may_go(self) -> bool:
        """See Contender."""
        return self.is_over and self.state is not State.LOST

    def withdraw(self, hub: Hub) -> None:
        """Releases a claim that the program never got, so that the operation had no effect."""
        if self.state is State.HELD:
            hub.release(now(), self.key)

    def assert_ended(self, *ends: State) -> None:
        """Raises unless the last complete, release or leave has ended in one of these states."""
        if self.state not in ends:
            raise self.error() if self.refusal is None else self.exception(*self.refusal)
