"""Chooses the driver for an address or a connection, for asyncio."""

from __future__ import annotations

import asyncio
from typing import Protocol

from .._client.connect import (
    SyncDriver,
    checked_prefix,
    is_instance,
    no_connection,
    no_prefix,
    read_address,
)
from .._client.libraries import KAZOO, REDIS, needing
from .._engine.contender import Contender
from .._engine.driver import Driver, EnginePort
from .._engine.loop_engine import settle
from .._engine.threads import try_start
from .._fencepost import Command, Hub

_DROP_WITHIN = 5.0
"""The time limit to close a connection, in seconds, if no task waits for the close."""


class AsyncDriver(Driver, Protocol):
    """A driver for asyncio."""

    @property
    def hub(self) -> Hub:
        """The hub for its engine."""

    async def close(self, within: float) -> None:
        """Removes its listeners from the connection, and closes the connection if the driver made it. Waits
        for at most ``within`` seconds.
        """

    def drop(self) -> None:
        """Closes without waiting, for a client that the program has dropped."""


class FromThreads:
    """A driver for threads, used on a loop. Only its close may block, so a separate thread closes it."""

    inline = False

    def __init__(self, driver: SyncDriver) -> None:
        self._driver = driver
        self.hub = driver.hub
        self.needs_thread = driver.needs_thread

    def start(self, engine: EnginePort) -> None:
        """See Driver."""
        self._driver.start(engine)

    def submit(self, command: Command) -> None:
        """See Driver."""
        self._driver.submit(command)

    def after(self) -> None:
        """See Driver."""
        self._driver.after()

    def forget(self, key: int) -> None:
        """See Driver."""
        self._driver.forget(key)

    def describe(self) -> str:
        """See SyncDriver."""
        return self._driver.describe()

    def carry_out(self, command: Command, contender: Contender) -> None:
        """See Driver."""
        self._driver.carry_out(command, contender)

    async def close(self, within: float) -> None:
        """See AsyncDriver."""
        loop = asyncio.get_running_loop()
        closed: asyncio.Future[bool] = loop.create_future()

        def close() -> None:
            self._driver.close(within)
            try:
                loop.call_soon_threadsafe(settle, closed, True)
            except RuntimeError:  # The loop was closed meanwhile.
                pass

        if try_start("close", close) is None:
            self._driver.close(within)
        else:
            await closed

    def drop(self) -> None:
        """See AsyncDriver."""
        if try_start("close", self._driver.close, _DROP_WITHIN) is None:
            self._driver.close(_DROP_WITHIN)


def choose_by_address(url: object) -> tuple[AsyncDriver, str]:
    """The driver for an address, and the address's prefix."""
    address = read_address(url)
    if address.kind == "memory":
        from ..drivers.memory import MemoryDriver, shared

        driver = MemoryDriver(shared(address.name), address.shown, address.session_timeout)
        return FromThreads(driver), ""
    if address.kind == "zookeeper":
        with needing(KAZOO):
            from ..drivers.zookeeper import KazooDriver
        return FromThreads(KazooDriver.connect(address)), address.prefix
    with needing(REDIS):
        from ..drivers.redis import AsyncRedisDriver
    return AsyncRedisDriver.connect(address), ""


def choose(connection: object, prefix: object) -> tuple[AsyncDriver, str]:
    """The driver for a connection of the program."""
    prefix = checked_prefix(prefix)
    if is_instance(connection, "kazoo.client", "KazooClient"):
        with needing(KAZOO):
            from ..drivers.zookeeper import KazooDriver

        return FromThreads(KazooDriver(connection)), prefix
    if is_instance(connection, "redis.asyncio.client", "Redis"):
        with needing(REDIS):
            from ..drivers.redis import AsyncRedisDriver

        no_prefix(prefix)
        return AsyncRedisDriver(connection), ""
    hint = "give a KazooClient or a redis.asyncio.Redis"
    if isinstance(connection, str):
        hint = "for an address, call fencepost.asyncio.connect()"
    if is_instance(connection, "redis.client", "Redis"):
        hint = "it is for threads: give it to fencepost.Client"
    raise no_connection(connection, hint)
