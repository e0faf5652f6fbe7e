"""The driver for redis-py's asyncio client.

The driver makes two connections with the program's settings: one for scripts, one for channels. Each has a
task that connects and then reads. To send is one write without an await. So commands go out in the order in
which the engine polls them, and cancelling a waiting task does not break a connection.
"""

from __future__ import annotations

import asyncio
from typing import Any

import redis.asyncio

from ..._engine.contender import Contender
from ..._engine.driver import EnginePort
from ..._fencepost import Address, Command, Hub
from ._asyncio_connections import ScriptConnection, SubscriptionConnection
from ._settings import address_of, check_pool, client_settings


class AsyncRedisDriver:
    """Carries out commands with the settings of a ``redis.asyncio.Redis``, which the program or the driver
    has made.
    """

    inline = False
    needs_thread = False

    def __init__(self, client: Any) -> None:
        check_pool(client.connection_pool)
        self.hub = Hub("redis", id(client))
        self._pool = client.connection_pool
        self._scripts: ScriptConnection
        self._subscriptions: SubscriptionConnection

    @classmethod
    def connect(cls, address: Address) -> AsyncRedisDriver:
        """A driver for an address."""
        return cls(redis.asyncio.Redis(**client_settings(address)))

    def describe(self) -> str:
        """The address of the server."""
        return address_of(self._pool)

    def start(self, engine: EnginePort) -> None:
        """See Driver. The running loop is the client's."""
        loop = asyncio.get_running_loop()
        self._subscriptions = SubscriptionConnection(engine, loop, self._pool)
        self._scripts = ScriptConnection(engine, loop, self._pool, self._renew)

    def submit(self, command: Command) -> None:
        """See Driver."""
        operation = command.operation
        if operation == "call":
            self._scripts.call(command)
        elif operation == "subscribe":
            self._subscriptions.subscribe(command)
        else:
            self._subscriptions.unsubscribe(command)

    def carry_out(self, command: Command, contender: Contender) -> None:
        """See Driver."""
        self.submit(command)

    def _renew(self) -> None:
        self._scripts.abort()
        self._subscriptions.abort()

    def after(self) -> None:
        """See Driver."""

    def forget(self, key: int) -> None:
        """See Driver."""

    async def close(self, within: float) -> None:
        """See AsyncDriver. It waits for no server. Both tasks end even if the caller is cancelled."""
        self.drop()
        await self._scripts.ended()
        await self._subscriptions.ended()

    def drop(self) -> None:
        """See AsyncDriver."""
        self._scripts.drop()
        self._subscriptions.drop()
