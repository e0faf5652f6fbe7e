"""Chooses the driver for an address or a connection."""

from __future__ import annotations

import sys
from typing import Protocol

from .._engine.driver import Driver
from .._engine.wording import unreadable
from .._fencepost import Address, Hub
from ..errors import ConfigError
from .libraries import KAZOO, REDIS, needing


class Describes(Protocol):
    """The properties of every driver."""

    @property
    def hub(self) -> Hub:
        """The hub for its engine."""

    def describe(self) -> str:
        """The address of the locks, without passwords."""


class SyncDriver(Driver, Protocol):
    """A driver for threads."""

    @property
    def hub(self) -> Hub:
        """The hub for its engine."""

    def close(self, within: float) -> None:
        """Removes its listeners from the connection, and closes the connection if the driver made it. Waits
        for at most ``within`` seconds.
        """


def read_address(url: object) -> Address:
    """Parses a URL. Raises ConfigError."""
    if not isinstance(url, str):
        raise unreadable(f'the address is {url!r}: give a str, such as "redis://localhost"')
    return Address(url)


def choose_by_address(url: object) -> tuple[SyncDriver, str]:
    """The driver for an address, and the address's prefix."""
    address = read_address(url)
    if address.kind == "memory":
        from ..drivers.memory import MemoryDriver, shared

        return MemoryDriver(shared(address.name), address.shown, address.session_timeout), ""
    if address.kind == "zookeeper":
        with needing(KAZOO):
            from ..drivers.zookeeper import KazooDriver
        return KazooDriver.connect(address), address.prefix
    with needing(REDIS):
        from ..drivers.redis import RedisDriver
    return RedisDriver.connect(address), ""


def choose(connection: object, prefix: object) -> tuple[SyncDriver, str]:
    """The driver for a connection of the program."""
    prefix = checked_prefix(prefix)
    if is_instance(connection, "kazoo.client", "KazooClient"):
        with needing(KAZOO):
            from ..drivers.zookeeper import KazooDriver

        return KazooDriver(connection), prefix
    if is_instance(connection, "redis.client", "Redis"):
        with needing(REDIS):
            from ..drivers.redis import RedisDriver

        no_prefix(prefix)
        return RedisDriver(connection), ""
    hint = "give a KazooClient or a redis.Redis"
    if isinstance(connection, str):
        hint = "for an address, call fencepost.connect()"
    if is_instance(connection, "redis.asyncio.client", "Redis"):
        hint = "it is for asyncio: give it to fencepost.asyncio.Client"
    raise no_connection(connection, hint)


def no_connection(connection: object, hint: str) -> ConfigError:
    """The error for a value that is not a connection of this client. It never shows an address's password."""
    return unreadable(f"the connection is of the type {type(connection).__name__}: {hint}")


def server_of(driver: Describes) -> str:
    """The kind of its server, which decides the options that its locks have: ``zookeeper``, ``redis`` or
    ``memory``.
    """
    return "memory" if driver.describe().startswith("memory:") else driver.hub.family


def is_instance(connection: object, module: str, name: str) -> bool:
    """Whether a connection is of that class. It imports no library that the program has not imported."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return kind is not None and isinstance(connection, kind)


def checked_prefix(prefix: object) -> str:
    """The prefix, if it is a str. Raises ConfigError."""
    if not isinstance(prefix, str):
        raise unreadable(f'the prefix is {prefix!r}: give a str, such as "/shop"')
    return prefix


def no_prefix(prefix: str) -> None:
    """Raises ConfigError for a prefix on a server without paths."""
    if prefix:
        raise ConfigError(
            f"the prefix is {prefix!r}, and only ZooKeeper has prefixes: put it into the names of the locks",
            108,
            "unknown-option",
        )
