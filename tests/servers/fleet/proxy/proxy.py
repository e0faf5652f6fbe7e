"""A proxy in front of one server: a listening port, its connections, and its faults."""

from __future__ import annotations

import asyncio

from ..ports import HOST, listen
from ..redis_tls import RedisTls
from ..server import Server
from .dialect import Dialect
from .link import Connect, Link
from .meter import Meter
from .redis import RedisDialect
from .sealed import SealedDialect
from .zookeeper import ZooKeeperDialect

DIALECTS: dict[str, type[Dialect]] = {"redis": RedisDialect, "zookeeper": ZooKeeperDialect}


class Proxy:
    """Forwards from its port to the server, until a command changes that."""

    def __init__(self, identity: str, server: Server, port: int, connect: Connect | None = None) -> None:
        self.identity = identity
        self.server = server
        self.port = port
        self.meter = Meter()
        self.held = False
        self.ignores = 0
        self.delay = 0.0
        self._connect = connect or self._connect_to_server
        self._dialect = SealedDialect if isinstance(server, RedisTls) else DIALECTS[server.kind]
        self._links: set[Link] = set()
        self._listener: asyncio.AbstractServer | None = None

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def is_cut(self) -> bool:
        """Whether connections are refused."""
        return self._listener is None

    async def heal(self) -> None:
        """Accepts connections (again)."""
        if self._listener is None:
            loop = asyncio.get_running_loop()
            self._listener = await loop.create_server(self._accept, sock=listen(self.port))

    async def cut(self) -> None:
        """Ends all connections, and refuses new ones."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for link in list(self._links):
            link.close(abort=True)

    async def hold(self) -> None:
        """Keeps and accepts connections, but forwards nothing. Counts and keeps the messages."""
        self.held = True
        for link in self._links:
            link.hold()

    async def release(self) -> None:
        """Forwards again, first the kept messages."""
        self.held = False
        for link in list(self._links):
            link.release()

    def kept(self, text: bytes) -> int:
        """How many of the kept requests contain this text."""
        return sum(text in request for link in self._links for request in link.kept)

    def slow(self, delay: float) -> None:
        """Forwards the server's replies `delay` seconds later, in their order."""
        self.delay = delay
        for link in self._links:
            link.delay = delay

    def ignore(self, connections: int) -> None:
        """Accepts the next `connections` connections, and never forwards anything on them."""
        self.ignores = connections

    def describe(self) -> dict[str, object]:
        """The entry in the reply to `list`."""
        return {
            "id": self.identity,
            "name": self.server.name,
            "address": self.address,
            "cut": self.is_cut,
            "held": self.held,
            "ignores": self.ignores,
            "connections": len(self._links),
        }

    async def _connect_to_server(self, end: asyncio.Protocol) -> None:
        await asyncio.get_running_loop().create_connection(lambda: end, HOST, self.server.port)

    def _accept(self) -> asyncio.BaseProtocol:
        link = Link(self._connect, self._dialect(), self.meter, self._links.discard)
        link.delay = self.delay
        if self.ignores > 0:
            self.ignores -= 1
            link.ignore()
        self._links.add(link)
        if self.held:
            link.hold()
        if self.is_cut:
            # The kernel accepted this connection before the cut.
            link.close(abort=True)
        return link.client
