"""What has to be true of a line's book."""

from __future__ import annotations

from collections.abc import Iterable

from book import Held


def conflicts(book: Iterable[Held], permits: int | None) -> list[str]:
    """Who believed to hold what somebody else still believed to hold, and fences that went back.

    With permits, as many may hold at once, and their fences are in no order.
    """
    found: list[str] = []
    active: list[Held] = []
    exclusive = anybody = 0
    for held in sorted(book, key=lambda held: held.since):
        active = [other for other in active if other.until > held.since]
        beside = [other for other in active if not (held.shared and other.shared)]
        if permits is None and beside:
            found.append(f"{held} beside {beside}")
        if permits is not None and len(active) >= permits:
            found.append(f"{held} beside {active}, of {permits}")
        if permits is None:
            if held.fence <= (exclusive if held.shared else anybody):
                found.append(f"{held} after the fence {exclusive if held.shared else anybody}")
            anybody = max(anybody, held.fence)
            if not held.shared:
                exclusive = max(exclusive, held.fence)
        active.append(held)
    return found
