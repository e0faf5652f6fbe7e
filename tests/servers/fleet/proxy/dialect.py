"""What a proxy needs to know about a protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(eq=False)
class Request:
    """One request that a client sent."""

    kind: str
    ping: bool = False
    #: Its reply must not reach the client.
    lose_reply: bool = False


#: In place of a request: what the server says unasked, such as a watch event or a published message.
EVENT = Request("event")

#: The bytes of one message, with the request that it is or, from the server, that it answers completely.
Frame = tuple[bytes, Request | None]


class Dialect(ABC):
    """Cuts the two byte streams of one connection into messages, and matches replies to requests.

    All bytes come out again, in order, however they were split or coalesced on the way.
    """

    @abstractmethod
    def requests(self, data: bytes) -> Iterator[Frame]:
        """The messages that are complete with these bytes from the client."""

    @abstractmethod
    def replies(self, data: bytes) -> Iterator[Frame]:
        """The messages that are complete with these bytes from the server."""

    @property
    @abstractmethod
    def waiting(self) -> int:
        """How many requests, other than pings, have not been answered."""
