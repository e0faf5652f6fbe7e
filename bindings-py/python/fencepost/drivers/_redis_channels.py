"""The channels of a connection for subscriptions: what was asked for, what comes, and whether it is alive."""

from __future__ import annotations

from collections import deque
from typing import Any

from .._clock import now
from .._engine import Engine
from .._fencepost import Command
from ._redis_common import ANSWER_WITHIN, pack

SILENCE = 5_000_000
"""After how many microseconds without a word the server is asked for one."""
PING = pack((b"PING",))
_PINGED = (b"", 0)
"""What stands for a ping among the channels that were asked for."""


class Channels:
    """Everything that comes on such a connection is about them, in either version of the protocol."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ids: dict[bytes, int] = {}
        self._asked: deque[tuple[bytes, int]] = deque()
        """What the server has not answered yet, in order."""
        self._heard = 0
        self._pinged: int | None = None

    def opened(self) -> None:
        """There is a connection, new or as silent as nobody wanted anything of it."""
        if not self._ids and not self._asked:
            self._heard, self._pinged = now(), None

    def subscribed(self, command: Command) -> None:
        """A channel was asked for."""
        channel = command.arguments[0]
        self._ids[channel] = command.id
        self._asked.append((channel, command.id))

    def unsubscribed(self, command: Command) -> None:
        """A channel was given back."""
        self._ids.pop(command.arguments[0], None)
        self._engine.put(self._engine.hub.reply, command.id, None)

    def due(self) -> int | None:
        """When there is something to do about the server's silence."""
        if not self._ids and not self._asked:
            return None
        return self._heard + SILENCE if self._pinged is None else self._pinged + int(ANSWER_WITHIN * 1e6)

    def is_dead(self) -> bool:
        """Whether the server has not even answered a ping. When that is due; if not, it is to be pinged."""
        if self._pinged is not None:
            return True
        self._pinged = now()
        self._asked.append(_PINGED)
        return False

    def answered(self, value: Any) -> None:
        """A reply or a push has come."""
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
                self._engine.put(self._engine.hub.message, id)
        elif kind == b"subscribe" and self._asked:
            self._engine.put(self._engine.hub.reply, self._asked.popleft()[1], 1)

    def refused(self, text: str, error: BaseException) -> None:
        """An error has come."""
        self._heard, self._pinged = now(), None
        if self._take_ping() or not self._asked:
            return
        channel, id = self._asked.popleft()
        if self._ids.get(channel) == id:
            del self._ids[channel]
        self._engine.note(id, error)
        self._engine.put(self._engine.hub.error_reply, id, text)

    def lost(self, error: BaseException | None) -> None:
        """The connection is gone."""
        self._pinged = None
        asked, self._asked = self._asked, deque()
        ids, self._ids = self._ids, {}
        unconfirmed = {each[1] for each in asked if each is not _PINGED}
        for id in unconfirmed:
            self._engine.failed(id, "unknown", error)
        for id in ids.values():
            if id not in unconfirmed:
                self._engine.put(self._engine.hub.gone, id)

    def _take_ping(self) -> bool:
        if self._asked and self._asked[0] is _PINGED:
            self._asked.popleft()
            return True
        return False


def silent() -> TimeoutError:
    """Why a connection was given up."""
    return TimeoutError("the connection for subscriptions is silent")
