"""Control over ``memory:NAME``, for tests: sessions that expire, cut connections, paused clients.

    server = fencepost.testing.MemoryServer("memory:stock")
    with fencepost.connect("memory:stock") as client:
        grant = client.lock("42").acquire()
        server.session(client).expire()
        assert grant.lost.wait(timeout=60)

The controls do not wait. Any thread may call them, also for clients of :mod:`fencepost.asyncio`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from . import asyncio as _asyncio
from ._client.client import Client
from ._client.connect import read_address
from ._engine.wording import unreadable
from ._fencepost import MemoryMessage, MemoryNode, MemorySession, misuse
from .asyncio._connect import FromThreads
from .drivers.memory import MemoryDriver, SharedServer, shared
from .errors import ConfigError

__all__ = ["MemoryMessage", "MemoryNode", "MemoryServer", "Session"]


class MemoryServer:
    """The server of the clients whose address is ``memory:NAME``. The server exists as long as one of these
    clients or this object exists.

    The server has no clock. A session ends when its client is closed, or by :meth:`Session.expire`, and never
    by itself. Raises ConfigError for another address, and for ``memory:`` without a name.
    """

    def __init__(self, address: str) -> None:
        read = read_address(address)
        if read.kind != "memory":
            raise ConfigError(
                f"{read.shown} is not a server in this process: use memory:NAME", 106, "invalid-url"
            )
        if not read.name:
            raise ConfigError(
                "memory: without a name is a new server for each client: give memory:NAME", 106, "invalid-url"
            )
        self._address = read.shown
        self._shared = shared(read.name)

    def session(self, client: Client | _asyncio.Client) -> Session:
        """The session of a client. Raises ConfigError for a client of another server, and MisuseError if the
        client is closed.
        """
        if not isinstance(client, (Client, _asyncio.Client)):
            raise unreadable(f"the client is of the type {type(client).__name__}: give a client of fencepost")
        driver: object = client._driver
        if isinstance(driver, FromThreads):
            driver = driver._driver
        if not isinstance(driver, MemoryDriver) or driver.shared is not self._shared:
            raise ConfigError(
                f"the client is not connected to {self._address}: give one that is", 110, "invalid-option"
            )
        session = Session(self._shared, driver.hub.id)
        session._known()
        return session

    def sessions(self) -> list[Session]:
        """The sessions of all clients that have not been closed, in the order in which they connected."""
        return [Session(self._shared, known.hub) for known in self._shared.server.sessions()]

    def nodes(self) -> list[MemoryNode]:
        """All nodes, in the order of their paths, without the root. ``hub`` is that of a :class:`Session`."""
        return self._shared.server.nodes()

    def record(self, on: bool) -> None:
        """Starts or stops the recording of all messages between clients and the server. A start clears the
        list; a stop keeps it. At first, the recording is off. The list grows until the next start.
        """
        if not isinstance(on, bool):
            raise unreadable(f"on is {on!r}: give True or False")
        self._shared.server.record(on)

    def messages(self, after: int = 0) -> list[MemoryMessage]:
        """The recorded messages with a number above ``after``, in their order. Times are microseconds of the
        clock :func:`fencepost.hub.now`.
        """
        return self._shared.server.messages(after)


class Session:
    """The session of a client: the present one, also after an earlier one has expired.

    A control has no effect if the session is already in that state. All members but ``hub`` raise MisuseError
    (``client-closed``) if the client is closed.
    """

    __slots__ = ("_shared", "hub")

    hub: int
    """The number of the client on its server."""

    def __init__(self, server: SharedServer, hub: int) -> None:
        self._shared = server
        self.hub = hub

    @property
    def id(self) -> int:
        """The number of the session. Another one means that an earlier session has ended."""
        return self._known().session

    @property
    def state(self) -> Literal["connected", "suspended", "expired"]:
        """``suspended``: the client has no connection, and the server keeps the session. ``expired``: the
        server has ended the session, and the client, which is suspended or paused, has not learned of it.
        """
        return self._known().state

    @property
    def paused(self) -> bool:
        """Whether the client is paused."""
        return self._known().paused

    def expire(self) -> None:
        """Ends the session, as servers do when they have not heard from a client for the session's timeout:
        its locks are free. A connected client loses its grants at once, a suspended one when it reconnects, a
        paused one when it resumes. It then gets a new session.
        """
        self._control(self._shared.server.expire)

    def suspend(self) -> None:
        """Cuts the connection. The server keeps the session until it is expired. The client ends its grants
        itself when the session's timeout has passed on its own clock.
        """
        self._control(self._shared.server.suspend)

    def reconnect(self) -> None:
        """Lets the client connect again: in its session, or in a new one if the server has ended that one."""
        self._control(self._shared.server.reconnect)

    def pause(self) -> None:
        """Pauses the client, as if its process were stopped: it receives and sends nothing, and its calls
        wait. Its grants stay held, even if the server grants the lock to another client. A close resumes it.
        """
        self._control(self._shared.server.pause)

    def resume(self) -> None:
        """Resumes the client. It then receives the notices that it has missed."""
        self._control(self._shared.server.resume)

    def __repr__(self) -> str:
        known = self._find()
        state = "closed" if known is None else known.state + (", paused" if known.paused else "")
        return f"<Session of client {self.hub}: {state}>"

    def _find(self) -> MemorySession | None:
        return next((each for each in self._shared.server.sessions() if each.hub == self.hub), None)

    def _known(self) -> MemorySession:
        known = self._find()
        if known is None:
            raise misuse("client-closed")
        return known

    def _control(self, control: Callable[[int], None]) -> None:
        try:
            control(self.hub)
        except ConfigError:
            raise misuse("client-closed") from None
        self._shared.wake()
