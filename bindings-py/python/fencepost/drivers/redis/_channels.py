"""The channels of a connection for subscriptions: requests, messages, and pings of a silent server."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..._engine.driver import EnginePort
from ..._fencepost import Command
from ...hub._clock import now
from ._settings import ANSWER_WITHIN
from ._wire import pack

SILENCE = 5_000_000
"""After so many microseconds without a message, the driver pings the server."""
PING = pack((b"PING",))
_PINGED = (b"", 0)
"""Stands for a ping in the queue of requests without a reply."""


class Channels:
    """The channels of one connection, in either version of the protocol."""

    def __init__(self, engine: EnginePort) -> None:
        self._engine = engine
        self._ids: dict[bytes, int] = {}
        self._asked: deque[tuple[bytes, int]] = deque()
        """The requests without a reply, in order."""
        self._heard = 0
        self._pinged: int | None = None

    def opened(self) -> None:
        """Called before a subscription is sent. If it is the first one, the time of the server's silence
        begins now.
        """
        if not self._ids and not self._asked:
            self._heard, self._pinged = now(), None

    def subscribed(self, command: Command) -> None:
        """The request for a channel was sent."""
        channel = command.arguments[0]
        self._ids[channel] = command.id
        self._asked.append((channel, command.id))

    def unsubscribed(self, command: Command) -> None:
        """The client does not need a channel any more."""
        self._ids.pop(command.arguments[0], None)
        self._engine.report(self._engine.hub.reply, command.id, None)

    def due(self) -> int | None:
        """When to ping a silent server, or to close the connection."""
        if not self._ids and not self._asked:
            return None
        return self._heard + SILENCE if self._pinged is None else self._pinged + int(ANSWER_WITHIN * 1e6)

    def is_dead(self) -> bool:
        """Called at the time of :meth:`due`. Returns True if the server has not replied to a ping. Otherwise
        the caller must send a ping now.
        """
        if self._pinged is not None:
            return True
        self._pinged = now()
        self._asked.append(_PINGED)
        return False

    def answered(self, value: Any) -> None:
        """A reply or a push has arrived."""
        self._heard, self._pinged = now(), None
        if value == b"PONG" or (isinstance(value, list) and value[:1] == [b"pong"]):
            self._take_ping()
            return
        if not isinstance(value, list) or len(value) < 2:
            return
        kind, channel = value[0], value[1]
        if kind == b"message":
            id = self._ids.get(channel)
            if id is not None:
                self._engine.report(self._engine.hub.message, id)
        elif kind == b"subscribe" and self._asked:
            self._engine.report(self._engine.hub.reply, self._asked.popleft()[1], 1)

    def refused(self, text: str, error: BaseException) -> None:
        """An error has arrived."""
        self._heard, self._pinged = now(), None
        if self._take_ping() or not self._asked:
            return
        channel, id = self._asked.popleft()
        if self._ids.get(channel) == id:
            del self._ids[channel]
        self._engine.note(id, error)
        self._engine.report(self._engine.hub.error_reply, id, text)

    def lost(self, error: BaseException | None) -> None:
        """The connection is lost."""
        self._pinged = None
        asked, self._asked = self._asked, deque()
        ids, self._ids = self._ids, {}
        unconfirmed = {each[1] for each in asked if each is not _PINGED}
        for id in unconfirmed:
            self._engine.failed(id, "unknown", error)
        for id in ids.values():
            if id not in unconfirmed:
                self._engine.report(self._engine.hub.gone, id)

    def _take_ping(self) -> bool:
        if self._asked and self._asked[0] is _PINGED:
            self._asked.popleft()
            return True
        return False


def silent() -> TimeoutError:
    """The error of a connection that the driver closes because the server is silent."""
    return TimeoutError("the server did not reply to a ping on the connection for subscriptions")
