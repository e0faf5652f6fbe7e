"""What an engine asks of a driver and of a timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ._contender import Contender
    from ._engine import Engine
    from ._fencepost import Command


class Timer(Protocol):
    """Calls the engine's tick when it is time."""

    def plan(self, until: int | None) -> None:
        """The engine wants a tick by then at the latest. Called inside the critical section."""

    def nudge(self) -> None:
        """The engine wants a tick now. Called from finalizers too: takes no lock."""

    def stop(self) -> None:
        """No more ticks."""


class Driver(Protocol):
    """What an engine asks of a driver. ``docs/drivers.md`` says what an operation means."""

    @property
    def inline(self) -> bool:
        """Whether a waiting thread carries out its commands itself, with ``carry_out``."""

    def start(self, engine: Engine) -> None:
        """Begin to report to this engine, with ``put``, ``reached`` and ``failed``."""

    def submit(self, command: Command) -> None:
        """Hand a command over. Called inside the critical section: neither blocks nor waits."""

    def carry_out(self, command: Command, contender: Contender) -> None:
        """Carry a command out at once, on the calling thread, outside of the critical section."""

    def after(self) -> None:
        """Called after each critical section, outside of it."""

    def forget(self, key: int) -> None:
        """A contender has ended: nothing that it has watched is of interest. Called inside the critical
        section.
        """

    def describe(self) -> str:
        """Where the locks are, without passwords."""
