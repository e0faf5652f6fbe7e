"""ZooKeeper's protocol: messages begin with their length, and the xid matches a reply to its request."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .dialect import EVENT, Dialect, Frame, Request

NOTIFICATION_XID = -1
PING = 11
#: Longer messages do not exist (jute.maxbuffer); a "length" beyond it is a four-letter word such as `ruok`.
LONGEST = 64 << 20

GET_DATA = 4
#: The name of a `getData` without a watch, which its last byte shows.
UNWATCHED = "getData (no watch)"

OPERATIONS = {
    1: "create",
    2: "delete",
    3: "exists",
    4: "getData",
    5: "setData",
    6: "getACL",
    7: "setACL",
    8: "getChildren",
    9: "sync",
    11: "ping",
    12: "getChildren2",
    13: "check",
    14: "multi",
    15: "create2",
    16: "reconfig",
    17: "checkWatches",
    18: "removeWatches",
    19: "createContainer",
    20: "deleteContainer",
    21: "createTTL",
    22: "multiRead",
    100: "auth",
    101: "setWatches",
    102: "sasl",
    103: "getEphemerals",
    104: "getAllChildrenNumber",
    105: "setWatches2",
    106: "addWatch",
    107: "whoAmI",
    -10: "createSession",
    -11: "closeSession",
}


class ZooKeeperDialect(Dialect):
    """One connection of a ZooKeeper client."""

    def __init__(self) -> None:
        self._from_client = Stream()
        self._from_server = Stream()
        self._outstanding: list[tuple[int, Request]] = []
        self._waiting = 0

    @property
    def waiting(self) -> int:
        return self._waiting

    def requests(self, data: bytes) -> Iterator[Frame]:
        for raw, ordinary in self._from_client.feed(data):
            request = None
            if ordinary and len(raw) >= 12:
                xid, operation = struct.unpack_from(">ii", raw, 4)
                kind = OPERATIONS.get(operation, f"operation {operation}")
                if operation == GET_DATA and raw[-1] == 0:
                    kind = UNWATCHED
                request = Request(kind, ping=operation == PING)
                self._outstanding.append((xid, request))
                self._waiting += not request.ping
            yield raw, request

    def replies(self, data: bytes) -> Iterator[Frame]:
        for raw, ordinary in self._from_server.feed(data):
            answered = None
            if ordinary and len(raw) >= 8:
                (xid,) = struct.unpack_from(">i", raw, 4)
                answered = self._take(xid)
            yield raw, answered

    def _take(self, xid: int) -> Request | None:
        if xid == NOTIFICATION_XID:
            return EVENT
        for index, (candidate, request) in enumerate(self._outstanding):
            if candidate == xid:
                del self._outstanding[index]
                self._waiting -= not request.ping
                return request
        return None


class Stream:
    """One direction: collects bytes, and returns complete messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._handshake = True
        self._opaque = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Complete messages, and whether each is ordinary (not the handshake, not foreign bytes)."""
        self._buffer += data
        while len(self._buffer) >= 4 or (self._opaque and self._buffer):
            (length,) = (0,) if self._opaque else struct.unpack_from(">i", self._buffer)
            if self._opaque or not 0 <= length <= LONGEST:
                self._opaque = True
                size = len(self._buffer)
            else:
                size = 4 + length
            if len(self._buffer) < size:
                return
            raw = bytes(self._buffer[:size])
            del self._buffer[:size]
            yield raw, not (self._opaque or self._handshake)
            self._handshake = False
