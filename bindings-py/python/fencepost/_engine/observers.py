"""The observer that measures the clients of this process."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Measures clients. ``server`` is ``zookeeper``, ``redis`` or ``memory``; durations are in seconds."""

    def waits(self, server: str) -> None:
        """An acquire begins to wait."""

    def decided(self, server: str, outcome: str, duration: float) -> None:
        """An acquire has ended its wait. ``outcome`` is ``acquired``, the name of the refusal, or another
        end.
        """

    def ended(self, server: str, outcome: str, duration: float) -> None:
        """A grant has ended. ``outcome`` is ``released``, ``lost``, or the end of a claim."""

    def lost(self, server: str, reason: str) -> None:
        """A grant is lost."""


observer: Observer | None = None
"""The observer that measures all clients of this process."""


def observe(by: Observer | None) -> None:
    """From now on, this observer measures each new acquire."""
    global observer
    observer = by
