"""The base class for the protocols that a proxy parses."""

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


#: Stands for a message of the server that is no reply, such as a watch event or a published message.
EVENT = Request("event")

#: The bytes of one message. From the client, with its request; from the server, with the request for which it
#: completes the reply.
Frame = tuple[bytes, Request | None]


class Dialect(ABC):
    """Cuts the two byte streams of one connection into messages, and matches replies to requests.

    All bytes are returned in order, even if the network has split or joined them.
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
        """How many requests, other than pings, still wait for a reply."""
