"""One contender in the client: its state, and the threads and tasks that wait for its next event."""

from __future__ import annotations

import sys
import warnings
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from .._fencepost import Command, Event, misuse
from ..errors import FencepostError, LockLost, MixedLayoutsWarning, again
from ..hub._clock import now
from .refusals import refusal
from .wording import shown

if TYPE_CHECKING:
    from .observers import Observer

Wake = Callable[[], object]


class State(Enum):
    """The state of a contender."""

    WAITING = "waiting"
    HELD = "held"
    RELEASING = "releasing"
    RELEASED = "released"
    LOST = "lost"
    REFUSED = "refused"
    COMPLETED = "completed"
    REPLAYED = "replayed"
    LOOKED = "looked"
    SWEPT = "swept"
    FOUND = "found"
    CLOSED = "closed"


OVER = frozenset(set(State) - {State.WAITING, State.HELD, State.RELEASING})
_PACKAGE = f"{__name__.partition('.')[0]}."


class Contender:
    """A contender and its grant. Threads change it only inside the engine's critical section, and read it
    anywhere.

    Each acquire has its own contender, even if its owner already holds the lock.
    """

    lost: type[LockLost] = LockLost
    """The exception for a loss."""

    __slots__ = (
        "attempt",
        "cause",
        "downgrade",
        "downgrade_unreported",
        "error_of_client",
        "event",
        "extended",
        "fence",
        "inbox",
        "key",
        "label",
        "mixed_layouts",
        "name",
        "node",
        "observer",
        "on_loss",
        "reported",
        "revoke_requested",
        "since",
        "state",
        "suspended",
        "valid_until",
        "waiters",
    )

    def __init__(self, name: str, label: str | None = None) -> None:
        self.name = name
        self.label = shown(name if label is None else label)
        """The name in the log. For an operation it is the scope: a key may be a token."""
        self.reported = State.WAITING
        """The last state that was reported to the logger and the observer."""
        self.since = 0
        """When that state began."""
        self.observer: Observer | None = None
        """The observer that measures it."""
        self.downgrade: tuple[Event, BaseException | None] | None = None
        """The result of the last downgrade: the event, and the client library's own exception."""
        self.downgrade_unreported = False
        """A downgrade has begun, and no call has returned its result yet."""
        self.key = 0
        self.state = State.WAITING
        self.fence: int | None = None
        self.valid_until: int | None = None
        self.suspended = False
        self.extended = 0
        self.attempt = ""
        """The attempt's number, which the server stores. Grants that an owner shares have the same one."""
        self.node: str | None = None
        """The path of its node. None until the server has replied to the create."""
        self.revoke_requested = False
        self.mixed_layouts: str | None = None
        self.event: Event | None = None
        """The event that ended it, with the reason."""
        self.cause: BaseException | None = None
        """The client library's own exception that was the cause of the end."""
        self.error_of_client: FencepostError | None = None
        """The error for its end, if the client itself ended it, or knows more about the cause than the
        machine.
        """
        self.inbox: deque[Command] = deque()
        """Commands that the waiting thread carries out itself."""
        self.waiters: list[Wake] = []
        """The engine calls each of them once, after the next change that a thread or task may wait for."""
        self.on_loss: list[Wake] = []
        """The engine calls each of them once, after the loss of the grant."""

    def handle_event(self, event: Event, cause: BaseException | None) -> bool:
        """Handles an event of the machine. Returns whether a thread or task may wait for this change."""
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
            # It holds the lock in both cases.
            self.downgrade = (event, cause)
        else:
            self.state = State(name)
            self.event = event
            self.cause = cause
        return True

    def close(self) -> None:
        """Called when its client is closed. Ends a grant as lost, and cancels an acquire."""
        if not self.is_over:
            self.state = State.LOST if self.state is State.HELD else State.CLOSED

    @property
    def is_over(self) -> bool:
        """Whether it has ended: it holds nothing and waits for nothing."""
        return self.state in OVER

    @property
    def may_go(self) -> bool:
        """Whether no call can use its machine any more."""
        return self.is_over

    def is_valid(self) -> bool:
        """Whether it holds a valid grant, by this client's clock."""
        held = self.state is State.HELD and not self.suspended
        return held and (self.valid_until is None or now() < self.valid_until)

    def remaining(self) -> float | None:
        """The number of seconds until the grant ends. None: it has no lease."""
        if not self.is_valid():
            return 0.0
        return None if self.valid_until is None else max(0.0, (self.valid_until - now()) / 1e6)

    def warn(self) -> None:
        """Warns the caller of an acquire if the lock's directory has a contender of another layout."""
        if self.mixed_layouts is not None:
            node = self.mixed_layouts
            text = (
                f"{shown(self.name)}: {node} is a contender of another layout. It does not see ours and may "
                "get the lock as well: give all processes the same layout"
            )
            warnings.warn(text, MixedLayoutsWarning, _level())

    def error(self) -> FencepostError:
        """The exception for its end."""
        if self.error_of_client is not None:
            return again(self.error_of_client)
        if self.event is None and self.state is State.LOST:
            text = f"{shown(self.name)}: the client was closed while this grant was held"
            return self.lost(text, 406, "lost-connection-closed")
        if self.event is None or self.event.reason is None:
            return misuse("client-closed" if self.state is State.CLOSED else "not-held")
        return self.exception(self.event, self.cause)

    def exception(self, event: Event, cause: BaseException | None) -> FencepostError:
        """The exception for a refusal or a loss."""
        text = f"{shown(self.name)}: {event.text}"
        if event.detail:
            text = f"{text} ({event.detail})"
        error: FencepostError
        if event.name == "refused":
            error = refusal(event, text)
        else:
            error = self.lost(text, event.code or 0, event.reason or "")
        error.__cause__ = cause
        return error

    @property
    def is_downgrading(self) -> bool:
        """Whether a downgrade is in progress, or has succeeded, and no call has returned that yet."""
        return self.downgrade_unreported and (self.downgrade is None or self.downgrade[0].name != "refused")

    def why_not_downgraded(self) -> FencepostError | None:
        """The exception for the last downgrade. None: the server has confirmed it."""
        self.downgrade_unreported = False
        if self.downgrade is None:
            return self.error() if self.state in (State.LOST, State.CLOSED) else None
        event, cause = self.downgrade
        return self.exception(event, cause) if event.name == "refused" else None


def _level() -> int:
    """The level of a warning for the program's own line: the first frame outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


Until = Callable[[Contender], bool]
"""The condition that a thread or task waits for."""


def decided(contender: Contender) -> bool:
    """Whether its acquire is granted or refused."""
    return contender.state is not State.WAITING


def answered(contender: Contender) -> bool:
    """Whether the server has replied to its complete, release or leave, or its lease has ended."""
    return contender.state is not State.RELEASING


def over(contender: Contender) -> bool:
    """Whether it has ended."""
    return contender.is_over


def turned(contender: Contender) -> bool:
    """Whether its downgrade is confirmed or refused, or its grant has ended."""
    return contender.downgrade is not None or contender.state is not State.HELD
