"""One contender as the client sees it: what its machine has said so far, and who waits to hear more."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from enum import Enum

from ._clock import now
from ._fencepost import Command, Event, misuse
from .errors import FencepostError, LockLost, MixedLayoutsWarning, NotAcquired, Refused

Wake = Callable[[], object]


class State(Enum):
    """Where a contender is."""

    WAITING = "waiting"
    HELD = "held"
    RELEASING = "releasing"
    RELEASED = "released"
    LOST = "lost"
    REFUSED = "refused"
    FOUND = "found"
    CLOSED = "closed"


OVER = frozenset({State.RELEASED, State.LOST, State.REFUSED, State.FOUND, State.CLOSED})
_NOT_ACQUIRED = frozenset({301, 302})


class Contender:
    """One acquire and its grant. Changed only inside the engine's critical section, read anywhere."""

    __slots__ = (
        "attempt",
        "cause",
        "event",
        "extended",
        "fence",
        "inbox",
        "key",
        "mixed_layouts",
        "name",
        "node",
        "on_loss",
        "revoke_requested",
        "state",
        "suspended",
        "valid_until",
        "waiters",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = 0
        self.state = State.WAITING
        self.fence: int | None = None
        self.valid_until: int | None = None
        self.suspended = False
        self.extended = 0
        self.attempt = ""
        """What the server stores to say whose the lock is."""
        self.node: str | None = None
        """The path of its node, as far as its create has been answered."""
        self.revoke_requested = False
        self.mixed_layouts: str | None = None
        self.event: Event | None = None
        """The event that ended it, with the reason."""
        self.cause: BaseException | None = None
        """The client library's own exception that brought the end to light."""
        self.inbox: deque[Command] = deque()
        """Commands that the waiting thread carries out itself."""
        self.waiters: list[Wake] = []
        """Called once when anything has changed that somebody may wait for."""
        self.on_loss: list[Wake] = []

    def tell(self, event: Event, cause: BaseException | None) -> bool:
        """Takes an event in; whether somebody may have waited for it."""
        name = event.name
        if name == "acquired":
            self.attempt = event.attempt or ""
            self.fence = event.fence
            self.valid_until = event.valid_until
            self.state = State.HELD
        elif name == "extended":
            self.valid_until = event.valid_until
            self.extended += 1
        elif name == "suspended":
            self.suspended = True
            return False
        elif name == "resumed":
            self.valid_until = event.valid_until
            self.suspended = False
            return False
        elif name == "revoke-requested":
            self.revoke_requested = True
        elif name == "mixed-layouts":
            self.mixed_layouts = event.detail
            return False
        elif name == "queued":
            return False
        else:
            self.state = State(name)
            self.event = event
            self.cause = cause
        return True

    @property
    def is_over(self) -> bool:
        """Whether the machine has said its last word."""
        return self.state in OVER

    def is_valid(self) -> bool:
        """Whether the lock is held for certain, by this client's clock."""
        if self.state is not State.HELD or self.suspended:
            return False
        return self.valid_until is None or now() < self.valid_until

    def remaining(self) -> float | None:
        """For how many seconds more the grant is valid; None: there is no lease."""
        if not self.is_valid():
            return 0.0
        return None if self.valid_until is None else max(0.0, (self.valid_until - now()) / 1e6)

    def warn(self) -> None:
        """Warns the caller of an acquire of what is wrong with the lock's directory."""
        if self.mixed_layouts is not None:
            text = (
                f"{self.name}: {self.mixed_layouts} is a contender of another layout, which cannot see ours"
            )
            warnings.warn(f"{text}: have all processes use one layout", MixedLayoutsWarning, 4)

    def error(self) -> FencepostError:
        """What has ended it, as an exception."""
        if self.event is None or self.event.code is None or self.event.reason is None:
            return misuse("client-closed" if self.state is State.CLOSED else "not-held")
        text = f"{self.name}: {self.event.text}"
        if self.event.detail:
            text = f"{text} ({self.event.detail})"
        kind: type[FencepostError] = LockLost
        if self.state is State.REFUSED:
            kind = NotAcquired if self.event.code in _NOT_ACQUIRED else Refused
        error = kind(text, self.event.code, self.event.reason)
        error.__cause__ = self.cause
        return error
