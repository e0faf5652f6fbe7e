"""Looking at a lock from outside: who holds it, who waits, and what an operator may do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from ._fencepost import Event, Settings
from ._values import MULTI_LOCK, inspection_settings, unknown_option, unreadable

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Found:
    """A contender for a lock on ZooKeeper, of this process or another one, ours or a peer's."""

    node: str
    """The path of its node."""
    holds: bool
    """Whether it holds the lock, or waits."""
    shared: bool
    """Whether it shares the lock with others of its kind: a reader."""
    session: int
    """The session that its node goes with."""
    since: datetime
    """Since when it holds or waits, by the server's clock."""
    fence: int
    """The fence that it has, or would have."""
    identifier: str
    """What its node says of it."""


@dataclass(frozen=True)
class Subject:
    """What is looked at."""

    family: str
    prefix: str
    kind: str
    name: str
    options: Mapping[str, object]

    def settings(self, action: str, contender: Found | None = None) -> Settings:
        """The settings of one look. Raises ConfigError on Redis, and for what is no contender."""
        if self.family == "redis":
            raise unknown_option("contenders", self.family)
        if self.kind == MULTI_LOCK:
            raise unreadable("many locks have many lines: look at its locks one by one")
        extra: dict[str, object] = {"action": action}
        if action != "list":
            if not isinstance(contender, Found):
                raise unreadable(f"{contender!r} is no contender: give one that contenders() has found")
            extra |= {"node": contender.node, "fence": str(contender.fence)}
        return inspection_settings(self.prefix, self.kind, self.name, self.options, extra)


def found(event: Event | None) -> list[Found]:
    """What an inspection has found, first come, first."""
    contenders = (event.found if event is not None else None) or ()
    all = [
        Found(node, holds, shared, session, _EPOCH + timedelta(milliseconds=since), fence, identifier)
        for node, holds, shared, session, since, fence, identifier in contenders
    ]
    return sorted(all, key=lambda one: one.fence)
