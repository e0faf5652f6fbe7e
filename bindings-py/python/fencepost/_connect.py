"""Which driver goes with an address or a connection."""

from __future__ import annotations

import sys
from typing import Protocol

from ._driver import Driver
from ._fencepost import Address, Hub
from ._values import unreadable
from .errors import ConfigError


class Describes(Protocol):
    """What every driver says of itself."""

    @property
    def hub(self) -> Hub:
        """The hub for its engine."""

    def describe(self) -> str:
        """Where the locks are, without passwords."""


class SyncDriver(Driver, Protocol):
    """A driver for threads."""

    @property
    def hub(self) -> Hub:
        """The hub for its engine."""

    def close(self, within: float) -> None:
        """Takes back what was hung into the connection; closes it if it is the driver's own. Waits for so
        many seconds at most.
        """


def read_address(url: object) -> Address:
    """The address in a URL. Raises ConfigError."""
    if not isinstance(url, str):
        raise unreadable(f'{url!r} is no address: give a text, such as "redis://localhost"')
    return Address(url)


def missing(package: str, extra: str, error: ImportError) -> ImportError:
    """The error for a client library that is not installed."""
    wanted = ImportError(f"this address needs {package}: pip install 'fencepost[{extra}]'", name=package)
    wanted.__cause__ = error
    return wanted


def choose_by_address(url: object) -> tuple[SyncDriver, str]:
    """The driver for an address, and the prefix in it."""
    address = read_address(url)
    if address.kind == "memory":
        from .drivers.memory import MemoryDriver, shared

        return MemoryDriver(shared(address.name), address.shown), ""
    if address.kind == "zookeeper":
        try:
            from .drivers.kazoo import KazooDriver
        except ImportError as error:
            raise missing("kazoo", "zookeeper", error) from error
        return KazooDriver.connect(address), address.prefix
    try:
        from .drivers.redis import RedisDriver
    except ImportError as error:
        raise missing("redis", "redis", error) from error
    return RedisDriver.connect(address), ""


def choose(connection: object, prefix: object) -> tuple[SyncDriver, str]:
    """The driver for a connection that the caller already has."""
    prefix = checked_prefix(prefix)
    if is_instance(connection, "kazoo.client", "KazooClient"):
        from .drivers.kazoo import KazooDriver

        return KazooDriver(connection), prefix
    if is_instance(connection, "redis.client", "Redis"):
        from .drivers.redis import RedisDriver

        no_prefix(prefix)
        return RedisDriver(connection), ""
    hint = "give a KazooClient or a redis.Redis"
    if isinstance(connection, str):
        hint = "an address goes to fencepost.connect()"
    if is_instance(connection, "redis.asyncio.client", "Redis"):
        hint = "it is for asyncio: give it to fencepost.asyncio.Client"
    raise unreadable(f"{type(connection).__name__} is no connection for this client: {hint}")


def family_of(driver: Describes) -> str:
    """Whose options its locks take: ``zookeeper``, ``redis``, or ``memory``, which stands for either."""
    return "memory" if driver.describe().startswith("memory:") else driver.hub.family


def is_instance(connection: object, module: str, name: str) -> bool:
    """Whether it is of that class; without importing a library that nobody uses."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return kind is not None and isinstance(connection, kind)


def checked_prefix(prefix: object) -> str:
    """A prefix that is a text."""
    if not isinstance(prefix, str):
        raise unreadable(f'the prefix is {prefix!r}: give a text, such as "/shop"')
    return prefix


def no_prefix(prefix: str) -> None:
    """Refuses a prefix where there are no paths."""
    if prefix:
        raise ConfigError(
            "a prefix is for ZooKeeper: put it into the names of the locks", 108, "unknown-option"
        )
