"""How requests and flights are counted."""

from __future__ import annotations

from collections.abc import Iterator

from harness.servers import Counts
from harness.wire import MOST_CYCLES, cycles, summary


def counted(flights: int, requests: int = 3) -> Counts:
    return Counts({"create": requests, "Ping": 1}, flights, events=0, bytes_sent=0, bytes_received=0)


def seen(*flights: int) -> Iterator[Counts]:
    return map(counted, flights)


def test_the_fewest_flights_are_seen_twice() -> None:
    busy = seen(3, 4, 3, 2, 3, 4, 2, 1)
    assert [counts.flights for counts in cycles(lambda: next(busy), 4)] == [3, 4, 3, 2, 3, 4, 2]
    calm = seen(2, 2, 3, 2, 1)
    assert [counts.flights for counts in cycles(lambda: next(calm), 4)] == [2, 2, 3, 2]


def test_cycles_end() -> None:
    one_by_one = iter(range(1000, 0, -1))
    assert len(cycles(lambda: counted(next(one_by_one)), 4)) == MOST_CYCLES


def test_requests_are_those_of_the_first_cycles() -> None:
    counts = [counted(4), counted(2, requests=5), counted(3), counted(2, requests=9)]
    assert summary(counts, 3) == ((3 + 5 + 3) / 3, 2, {"create": 11}, 3)
