"""The interfaces between an engine, its driver and its timer."""

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
        """Requests a tick at that time at the latest. Called inside the critical section."""

    def ensure(self) -> None:
        """Raises MisuseError (``cannot-wait``) if no tick can come, because Python cannot start a thread.
        Called inside the critical section, before an acquire begins.
        """

    def wake(self) -> None:
        """Requests a tick now. Finalizers call this, too, so it takes no lock."""

    def stop(self) -> None:
        """Stops the ticks."""


class EnginePort(Protocol):
    """The part of an engine that its driver uses. Any thread may call it."""

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
        """Reports that a command has no reply. ``cause`` is the library's own exception."""

    def note(self, id: int, cause: BaseException | None) -> None:
        """Keeps the library's own exception, in case an event names this command."""

    def fail(self, fault: BaseException) -> None:
        """Reports a programming error in the driver. Ends all contenders, and retries nothing."""

    def connected(self) -> None:
        """Reports that the driver has a connection to the server."""

    def disconnected(self, why: object) -> None:
        """Reports that the driver has lost a connection. ``why`` is an exception, or a word."""

    def connect_failed(self, error: BaseException) -> None:
        """Reports that an attempt to connect has failed."""

    def node_created(self, key: int, path: str) -> None:
        """Reports that the server has created the node of a machine."""

    def knows(self, key: int) -> bool:
        """Whether the machine of that key serves a contender that has not ended. Takes no lock of the
        engine.
        """

    def end_if_stranded(self) -> None:
        """Closes the client if the program has already closed the client's loop. Called outside of every
        critical section.
        """

    def poll(self) -> None:
        """Handles the outputs of the hub. It may have some although there was no input."""


class Driver(Protocol):
    """The part of a driver that an engine uses. ``docs/reference/drivers.md`` defines the operations."""

    @property
    def inline(self) -> bool:
        """Whether a waiting thread carries out its commands itself, with ``carry_out``."""

    @property
    def needs_thread(self) -> bool:
        """Whether it needs its own thread to carry out a command."""

    def start(self, engine: EnginePort) -> None:
        """Begins to report to this engine: with ``report``, ``connected`` and ``failed``."""

    def submit(self, command: Command) -> None:
        """Accepts a command. Called inside the critical section, so it must not block."""

    def carry_out(self, command: Command, contender: Contender) -> None:
        """Carries out a command at once, on the calling thread, outside of the critical section."""

    def after(self) -> None:
        """Called after each critical section, outside of it."""

    def forget(self, key: int) -> None:
        """Reports that the machine of that key serves no contender any more, and needs no watches. Called
        inside the critical section.
        """

    def describe(self) -> str:
        """The address of the locks, without passwords."""
