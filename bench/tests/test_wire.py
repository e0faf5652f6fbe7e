"""How requests and flights are counted."""

from __future__ import annotations

from collections.abc import Iterator

from harness.servers import Counts
from harness.wire import MOST_WINDOWS, fewest_flights


def counted(flights: int) -> Counts:
    return Counts(by_kind={}, flights=flights, events=0, bytes_sent=0, bytes_received=0)


def windows(*flights: int) -> Iterator[Counts]:
    return map(counted, flights)


def test_the_window_with_the_fewest_flights_is_seen_twice() -> None:
    busy = windows(24, 21, 23, 22, 21, 20, 20, 19)
    assert fewest_flights(lambda: next(busy), 4).flights == 21
    busier = windows(24, 21, 23, 22, 20, 25, 20, 19)
    assert fewest_flights(lambda: next(busier), 4).flights == 20
    assert fewest_flights(lambda: counted(20), 4).flights == 20


def test_windows_end() -> None:
    one_by_one = iter(range(1000, 0, -1))
    assert fewest_flights(lambda: counted(next(one_by_one)), 4).flights == 1000 - MOST_WINDOWS + 1
