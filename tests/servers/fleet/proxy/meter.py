"""Counts requests, and decides which reply is dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .dialect import EVENT, Request


@dataclass
class Tally:
    """The requests of one connection since the last reset."""

    requests: int = 0
    flights: int = 0
    open: bool = True


class Meter:
    """The requests through one proxy since the last reset.

    A client may send a ping at any time. So pings are counted only by kind: not in the total, not as flights,
    not in bytes, and not towards a dropped reply.
    """

    def __init__(self) -> None:
        self._kinds: Counter[str] = Counter()
        self._events = self._bytes_sent = self._bytes_received = 0
        self._tallies: list[Tally] = []
        self._until_lost = 0
        self._lost = 0

    def connection(self) -> Tally:
        """The tally of a new connection."""
        tally = Tally()
        self._tallies.append(tally)
        return tally

    def saw(self, request: Request, tally: Tally, waiting: int, size: int) -> None:
        """Counts a request of `size` bytes; `waiting`: requests of its connection without a reply."""
        self._kinds[request.kind] += 1
        if request.ping:
            return
        self._bytes_sent += size
        tally.requests += 1
        tally.flights += waiting == 0
        if self._until_lost > 0:
            self._until_lost -= 1
            request.lose_reply = self._until_lost == 0

    def received(self, answered: Request, size: int) -> None:
        """Counts the bytes of a message from the server: the end of a reply, or an event."""
        self._events += answered is EVENT
        self._bytes_received += 0 if answered.ping else size

    def lose_reply(self, number: int) -> None:
        """Drops the reply to the `number`th request from now; 0 for none."""
        self._until_lost = number

    def lost(self) -> None:
        """Counts a dropped reply."""
        self._lost += 1

    def reset(self) -> None:
        """Sets the counts to zero, and forgets closed connections. Does not change a pending drop."""
        self._kinds.clear()
        self._events = self._bytes_sent = self._bytes_received = 0
        self._lost = 0
        self._tallies = [tally for tally in self._tallies if tally.open]
        for tally in self._tallies:
            tally.requests = tally.flights = 0

    def report(self) -> dict[str, object]:
        """The counts, for JSON."""
        return {
            "total": sum(tally.requests for tally in self._tallies),
            "by_kind": dict(self._kinds),
            "flights": sum(tally.flights for tally in self._tallies),
            "events": self._events,
            "bytes_sent": self._bytes_sent,
            "bytes_received": self._bytes_received,
            "replies_lost": self._lost,
            "connections": [vars(tally) for tally in self._tallies],
        }
