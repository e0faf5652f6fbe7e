"""What an engine asks of a driver and of a timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .._fencepost import Command
    from .contender import Contender
    from .engine import Engine


class Timer(Protocol):
    """Calls the engine's tick at the planned time."""

    def plan(self, until: int | None) -> None:
        """The engine needs a tick at that time at the latest. Called inside the critical section."""

    def nudge(self) -> None:
        """The engine needs a tick now. Finalizers call this, too: it takes no lock."""

    def stop(self) -> None:
        """No more ticks."""


class Driver(Protocol):
    """What an engine asks of a driver. ``docs/reference/drivers.md`` says what an operation means."""

    @property
    def inline(self) -> bool:
        """Whether a waiting thread carries out its commands itself, with ``carry_out``."""

    def start(self, engine: Engine) -> None:
        """Begin to report to this engine: with ``put``, ``reached`` and ``failed``."""

    def submit(self, command: Command) -> None:
        """Take a command. Called inside the critical section: it must not block."""

    def carry_out(self, command: Command, contender: Contender) -> None:
        """Carry out a command at once, on the calling thread, outside of the critical section."""

    def after(self) -> None:
        """Called after each critical section, outside of it."""

    def forget(self, key: int) -> None:
        """The machine of that key serves no contender any more, and needs no watches. Called inside the
        critical section.
        """

    def describe(self) -> str:
        """The address of the locks, without passwords."""
