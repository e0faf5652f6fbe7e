"""What an engine and its driver ask of each other, and what an engine asks of its timer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from .._fencepost import Command, Hub
from .contender import Contender
from .reachability import Reachability


class Timer(Protocol):
    """Calls the engine's tick at the planned time."""

    def schedule(self, until: int | None) -> None:
        """The engine needs a tick at that time at the latest. Called inside the critical section."""

    def wake(self) -> None:
        """The engine needs a tick now. Finalizers call this, too: it takes no lock."""

    def stop(self) -> None:
        """No more ticks."""


class EnginePort(Protocol):
    """An engine, as its driver sees it. Any thread may call."""

    hub: Hub
    order: threading.RLock
    """The lock of the critical section."""
    reachability: Reachability

    def report(self, verb: Callable[..., None], *arguments: object, mine: Contender | None = None) -> None:
        """Reports an outcome or a notice to the hub. ``verb`` is a method of the hub, called with the time
        and ``arguments``.
        """

    def failed(
        self, id: int, failure: str, cause: BaseException | None, mine: Contender | None = None
    ) -> None:
        """A command has no answer. ``cause`` is the library's own exception."""

    def note(self, id: int, cause: BaseException | None) -> None:
        """Keeps the library's own exception, in case that an event names this command."""

    def fail(self, fault: BaseException) -> None:
        """A driver has failed by a programming error. Ends all contenders, and tries nothing again."""

    def connected(self) -> None:
        """The driver has a connection to the server."""

    def disconnected(self, why: object) -> None:
        """The driver has lost a connection. ``why`` is an exception, or a word."""

    def connect_failed(self, error: BaseException) -> None:
        """An attempt to connect has failed."""

    def node_created(self, key: int, path: str) -> None:
        """The server has created the node of a machine."""

    def knows(self, key: int) -> bool:
        """Whether the machine of that key serves a contender that has not ended. Takes no lock of the
        engine.
        """

    def end_if_stranded(self) -> None:
        """Closes the client if the program has closed its loop before. Called outside of every critical
        section.
        """

    def poll(self) -> None:
        """The hub may have outputs, although there was no input."""


class Driver(Protocol):
    """What an engine asks of a driver. ``docs/reference/drivers.md`` says what an operation means."""

    @property
    def inline(self) -> bool:
        """Whether a waiting thread carries out its commands itself, with ``carry_out``."""

    @property
    def needs_thread(self) -> bool:
        """Whether it needs a thread of its own to carry out a command."""

    def start(self, engine: EnginePort) -> None:
        """Begin to report to this engine: with ``report``, ``connected`` and ``failed``."""

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
