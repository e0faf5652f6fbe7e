"""Redis's protocol: replies have the order of the requests, with published messages in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from .dialect import EVENT, Dialect, Frame, Request
from .resp import Reader, Value

PUSH = ">"
ARRAY = "*"
ERROR = "-"
MESSAGES = (b"message", b"pmessage", b"smessage")
#: Commands with one acknowledgement per channel, and the prefix that distinguishes the kinds of channels.
SUBSCRIBE = {"SUBSCRIBE": "", "PSUBSCRIBE": "P", "SSUBSCRIBE": "S"}
UNSUBSCRIBE = {"UNSUBSCRIBE": "", "PUNSUBSCRIBE": "P", "SUNSUBSCRIBE": "S"}
#: Further arguments are not parsed.
ARGUMENTS = 100_000


class RedisDialect(Dialect):
    """One connection of a Redis client. Does not support CLIENT REPLY OFF and MONITOR."""

    def __init__(self) -> None:
        self._from_client = Reader(keep=ARGUMENTS)
        self._from_server = Reader(keep=3)
        #: Requests without a complete reply, each with the number of missing values.
        self._outstanding: deque[tuple[Request, int]] = deque()
        #: The client's subscriptions, and whether the connection is in subscriber mode.
        self._channels: dict[str, set[bytes]] = {"": set(), "P": set(), "S": set()}
        self._subscriber = False

    @property
    def waiting(self) -> int:
        return sum(not request.ping for request, _ in self._outstanding)

    def requests(self, data: bytes) -> Iterator[Frame]:
        for value in self._from_client.feed(data):
            request = None
            if value.scalars:  # Redis ignores empty lines and empty arrays
                kind = value.scalars[0].decode(errors="replace").upper()
                request = Request(kind, ping=kind == "PING")
                self._outstanding.append((request, self._replies_to(kind, value.scalars[1:])))
            yield value.raw, request

    def replies(self, data: bytes) -> Iterator[Frame]:
        for value in self._from_server.feed(data):
            yield value.raw, EVENT if self._is_message(value) else self._answered(value)

    def _replies_to(self, kind: str, arguments: list[bytes]) -> int:
        """How many values the reply to a request has."""
        if kind in SUBSCRIBE:
            self._channels[SUBSCRIBE[kind]].update(arguments)
            return max(len(arguments), 1)
        if kind in UNSUBSCRIBE:
            channels = self._channels[UNSUBSCRIBE[kind]]
            expected = len(arguments) if arguments else len(channels)
            channels.difference_update(arguments or set(channels))
            return max(expected, 1)
        if kind == "RESET":
            for channels in self._channels.values():
                channels.clear()
        return 1

    def _is_message(self, value: Value) -> bool:
        """Whether a value from the server is no reply. Also tracks the subscriber mode."""
        first = value.scalars[0].lower() if value.scalars else b""
        acknowledges = first.upper().decode(errors="replace") in {**SUBSCRIBE, **UNSUBSCRIBE}
        if value.type == PUSH:
            return not acknowledges
        if value.type == ARRAY and acknowledges and self._expects_acknowledgement():
            self._subscriber = value.scalars[-1] != b"0"
        return value.type == ARRAY and self._subscriber and first in MESSAGES

    def _expects_acknowledgement(self) -> bool:
        return bool(self._outstanding) and self._outstanding[0][0].kind in {**SUBSCRIBE, **UNSUBSCRIBE}

    def _answered(self, value: Value) -> Request | None:
        """The request whose reply is complete with this value."""
        if not self._outstanding:
            return None
        request, missing = self._outstanding[0]
        if missing > 1 and value.type != ERROR:
            self._outstanding[0] = (request, missing - 1)
            return None
        self._outstanding.popleft()
        if request.kind == "RESET":
            self._subscriber = False
        return request
