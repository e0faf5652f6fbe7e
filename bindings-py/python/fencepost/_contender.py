"""One contender as the client sees it: what its machine has said so far, and who waits to hear more."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from ._clock import now
from ._fencepost import Command, Event, misuse
from ._values import shown
from .errors import FencepostError, LockLost, MixedLayoutsWarning, NotAcquired, Refused, again

if TYPE_CHECKING:
    from ._owners import Ownership

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
    """A contender and its grant. Changed only inside the engine's critical section, read anywhere."""

    __slots__ = (
        "attempt",
        "cause",
        "downgrade",
        "error_of_client",
        "event",
        "extended",
        "fence",
        "holds",
        "inbox",
        "key",
        "kind",
        "mixed_layouts",
        "name",
        "node",
        "ownership",
        "revoke_requested",
        "shared",
        "state",
        "suspended",
        "valid_until",
        "waiters",
    )

    def __init__(self, name: str, kind: str = "lock", ownership: Ownership | None = None) -> None:
        self.name = name
        self.kind = kind
        self.ownership = ownership
        self.holds: set[Hold] = set()
        """Those of its grant: several if its owner has acquired it again."""
        self.shared = kind == "reader"
        """Whether others may read: it is a reader's, or was downgraded."""
        self.downgrade: tuple[Event, BaseException | None] | None = None
        """What the server has said of the downgrade that was asked for last."""
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
        self.error_of_client: FencepostError | None = None
        """What the client says of the end, where it was not the machine that ended it or knows less."""
        self.inbox: deque[Command] = deque()
        """Commands that the waiting thread carries out itself."""
        self.waiters: list[Wake] = []
        """Called once when anything has changed that somebody may wait for."""

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
        elif name == "downgraded" or (name == "refused" and self.state is State.HELD):
            # It is held either way.
            self.downgrade = (event, cause)
        else:
            self.state = State(name)
            self.event = event
            self.cause = cause
        return True

    def close(self) -> None:
        """Its client is closed: a grant is lost by that, and everything else is over."""
        if not self.is_over:
            self.state = State.LOST if self.state is State.HELD else State.CLOSED

    @property
    def is_over(self) -> bool:
        """Whether the machine has said its last word."""
        return self.state in OVER

    def is_held(self) -> bool:
        """Whether the lock is held, though perhaps not for certain at present."""
        return self.state is State.HELD and (self.valid_until is None or now() < self.valid_until)

    def is_valid(self) -> bool:
        """Whether the lock is held for certain, by this client's clock."""
        return not self.suspended and self.is_held()

    def remaining(self) -> float | None:
        """For how many seconds more the grant is valid; None: there is no lease."""
        if not self.is_valid():
            return 0.0
        return None if self.valid_until is None else max(0.0, (self.valid_until - now()) / 1e6)

    def warn(self) -> None:
        """Warns the caller of an acquire of what is wrong with the lock's directory."""
        if self.mixed_layouts is not None:
            node = self.mixed_layouts
            text = f"{shown(self.name)}: {node} is a contender of another layout, which cannot see ours"
            warnings.warn(f"{text}: have all processes use one layout", MixedLayoutsWarning, 4)

    def error(self) -> FencepostError:
        """What has ended it, as an exception."""
        if self.error_of_client is not None:
            return again(self.error_of_client)
        if self.event is None and self.state is State.LOST:
            text = f"{self.name}: the client was closed while it held the lock"
            return LockLost(text, 406, "lost-connection-closed")
        if self.event is None or self.event.reason is None:
            return misuse("client-closed" if self.state is State.CLOSED else "not-held")
        return self.exception(self.event, self.cause)

    def exception(self, event: Event, cause: BaseException | None) -> FencepostError:
        """A refusal or a loss as an exception."""
        text = f"{shown(self.name)}: {event.text}"
        if event.detail:
            text = f"{text} ({event.detail})"
        kind: type[FencepostError] = LockLost
        if event.name == "refused":
            kind = NotAcquired if event.code in _NOT_ACQUIRED else Refused
        error = kind(text, event.code or 0, event.reason or "")
        error.__cause__ = cause
        return error

    def why_not_downgraded(self) -> FencepostError | None:
        """What has become of the downgrade, if not that."""
        if self.downgrade is None:
            return self.error() if self.state in (State.LOST, State.CLOSED) else None
        event, cause = self.downgrade
        return self.exception(event, cause) if event.name == "refused" else None


Until = Callable[[Contender], bool]
"""What somebody waits for."""


def decided(contender: Contender) -> bool:
    """It has the lock, or will not have it."""
    return contender.state is not State.WAITING


def over(contender: Contender) -> bool:
    """Its machine has said its last word."""
    return contender.is_over


def turned(contender: Contender) -> bool:
    """Its downgrade is decided."""
    return contender.downgrade is not None or contender.state is not State.HELD


class Hold:
    """One hold of a grant, and before that its acquire. The end of the last one is the grant's."""

    __slots__ = ("contender", "on_loss", "shared")

    def __init__(self, contender: Contender) -> None:
        self.contender = contender
        """What it is held by: its own, or the one by which its owner held the lock before."""
        self.shared = contender.shared
        """Whether it is through the reader of a read/write lock."""
        self.on_loss: list[Wake] = []

    @property
    def state(self) -> State:
        """Where it is."""
        contender = self.contender
        return contender.state if self in contender.holds else State.RELEASED

    def is_valid(self) -> bool:
        """Whether the lock is held for certain, by this client's clock."""
        return self in self.contender.holds and self.contender.is_valid()

    def remaining(self) -> float | None:
        """For how many seconds more the grant is valid; None: there is no lease."""
        return self.contender.remaining() if self in self.contender.holds else 0.0
