"""The rules for the book of a workload."""

from __future__ import annotations

from collections.abc import Iterable

from book import Held


def conflicts(book: Iterable[Held], permits: int | None) -> list[str]:
    """Grants that overlap in time, and fences that did not grow.

    With permits, that many grants may overlap, and their fences have no order.
    """
    found: list[str] = []
    active: list[Held] = []
    exclusive = highest = 0
    for held in sorted(book, key=lambda held: held.since):
        active = [other for other in active if other.until > held.since]
        beside = [other for other in active if not (held.shared and other.shared)]
        if permits is None and beside:
            found.append(f"{held} beside {beside}")
        if permits is not None and len(active) >= permits:
            found.append(f"{held} beside {active}, of {permits}")
        if permits is None:
            if held.fence <= (exclusive if held.shared else highest):
                found.append(f"{held} after the fence {exclusive if held.shared else highest}")
            highest = max(highest, held.fence)
            if not held.shared:
                exclusive = max(exclusive, held.fence)
        active.append(held)
    return found
