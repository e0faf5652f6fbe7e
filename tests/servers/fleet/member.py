"""A member of an ensemble that can lose its connections to the others, and to its clients."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from .network import Network
from .proxy.proxy import Proxy
from .zookeeper import CLIENTS, EVERYBODY, NOBODY, ZooKeeper


class Member(ZooKeeper):
    """A member in its own network namespace. Clients connect to a port outside, and the front forwards."""

    def __init__(self, name: str, port: int, directory: Path, tick_ms: int, version: str) -> None:
        super().__init__(name, port, directory, tick_ms, version)
        self.network: Network
        self._front = Proxy(f"front of {name}", self, port, self._connect)

    async def launch(self) -> None:
        await super().launch()
        await self._front.heal()

    async def kill(self) -> None:
        await super().kill()
        await self._front.cut()

    async def stop(self) -> None:
        await super().stop()
        await self._front.cut()

    async def cut(self) -> None:
        """Disconnects it from the other members. Clients can still connect and send requests."""
        self.network.unplug(self._number)
        await self._front.release()
        self.contact = CLIENTS

    async def depose(self) -> None:
        """Disconnects it from the other members, which notice at once. A leader continues for a while."""
        self.network.depose(self._number)
        await self._front.release()
        self.contact = CLIENTS

    async def isolate(self) -> None:
        """Disconnects it from members and clients. Their messages are kept, and arrive after `heal`."""
        self.network.unplug(self._number)
        await self._front.hold()
        self.contact = NOBODY

    async def heal(self) -> None:
        """Connects it to the other members and to clients again."""
        self.network.plug(self._number)
        await self._front.release()
        self.contact = EVERYBODY

    def enter(self) -> None:
        self.network.inside(self._number).enter()

    async def dial(self) -> socket.socket | None:
        return await self.network.inside(self._number).connect(self.port)

    @property
    def _number(self) -> int:
        assert self.identity is not None
        return self.identity

    async def _connect(self, end: asyncio.Protocol) -> None:
        await asyncio.get_running_loop().create_connection(lambda: end, sock=await self.dial())
