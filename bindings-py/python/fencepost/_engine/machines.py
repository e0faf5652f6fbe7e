"""Which machine of the hub serves which contenders.

The grants that an owner shares have one machine: that of the first of them. The machine keeps its key after
the first grant has ended. So a driver keeps what belongs to that key, such as watches, until the last of
these grants has ended.
"""

from __future__ import annotations

from .contender import Contender


class Machines:
    """The machines of grants. Changed inside the engine's critical section only."""

    def __init__(self) -> None:
        self._of_attempt: dict[str, int] = {}
        self._serves: dict[int, set[int]] = {}
        """By the machine's key: the keys of the contenders that have its grant."""

    def __contains__(self, key: int) -> bool:
        return key in self._serves

    def __len__(self) -> int:
        return len(self._serves)

    def granted(self, contender: Contender) -> None:
        """A contender has a grant. A second call changes nothing."""
        contender.machine = self._of_attempt.setdefault(contender.attempt, contender.key)
        self._serves.setdefault(contender.machine, set()).add(contender.key)

    def ended(self, contender: Contender) -> bool:
        """A contender has ended. Gives whether its machine serves no other contender."""
        served = self._serves.get(contender.machine)
        if served is not None:
            served.discard(contender.key)
            if served:
                return False
            del self._serves[contender.machine]
            del self._of_attempt[contender.attempt]
        return True
