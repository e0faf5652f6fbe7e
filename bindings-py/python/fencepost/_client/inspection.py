"""Inspection of a lock: it lists holders and waiters, sends one of them a revocation request, or deletes its
node.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from .._engine.wording import unreadable
from .._fencepost import Event, Settings
from .arguments import RawSettings, check

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Found:
    """A contender for a lock. It may belong to this process or to another one, and to fencepost or to another
    library. Redis stores no waiters, so there it is the holder.
    """

    node: str
    """Its identification on the server. ZooKeeper: the path of its node. Redis: the value of the lock's key.
    """
    holds: bool
    """True: it holds the lock. False: it waits."""
    shared: bool
    """Whether it is a reader, which can share the lock with other readers."""
    session: int | None
    """ZooKeeper: the session that made its node. The server deletes the node when the session ends."""
    since: datetime | None
    """ZooKeeper: when its node was created, by the server's clock."""
    expires_in: float | None
    """Redis: the seconds until its lease ends, without a renewal. None: the lease has no end."""
    fence: int
    """The fence of its grant, or the one that a waiter would get. Redis: 0 for a holder of another library.
    """
    identifier: str
    """ZooKeeper: the text that it has written into its node."""


@dataclass(frozen=True)
class Subject:
    """The lock of an inspection."""

    name: str
    raw: RawSettings

    def settings(self, action: str, contender: Found | None = None) -> Settings:
        """The settings of one inspection. Raises ConfigError if ``contender`` is not valid."""
        raw = {**self.raw, "action": action}
        if action != "list":
            if not isinstance(contender, Found):
                raise unreadable(f"the contender is {contender!r}: give one that contenders() has returned")
            raw |= {"node": contender.node, "fence": str(contender.fence)}
        return check(raw)


def found(event: Event | None) -> list[Found]:
    """The contenders that an inspection has found, in the order of their arrival."""
    contenders = (event.found if event is not None else None) or ()
    all = [
        Found(node, holds, shared, session, _moment(since), expires_in, fence, identifier)
        for node, holds, shared, session, since, expires_in, fence, identifier in contenders
    ]
    return sorted(all, key=lambda one: one.fence)


def _moment(millis: int | None) -> datetime | None:
    return None if millis is None else _EPOCH + timedelta(milliseconds=millis)
