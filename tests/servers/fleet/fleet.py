"""All servers of one run: which ones, their names, and their environment variables."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from pathlib import Path

from . import jars, packages
from .ensemble import Ensemble
from .ports import HOST, Ports
from .redis import Redis
from .server import Server, ServerError
from .zookeeper import ZooKeeper

PREFIX = "FENCEPOST_"
MEMBERS = 3


@dataclass(frozen=True)
class Wanted:
    """Which servers to start."""

    zookeeper: bool = True
    ensemble: bool = True
    redis: int = 2
    redis_password: bool = True
    tick_ms: int = 50
    zookeeper_version: str = jars.DEBIAN

    def packages(self) -> list[str]:
        """The Debian packages that these servers need."""
        needed = []
        if self.zookeeper or self.ensemble:
            needed += jars.needed(self.zookeeper_version)
        if self.redis or self.redis_password:
            needed.append(packages.REDIS)
        return needed

    def ensure(self) -> None:
        """Installs what is missing."""
        packages.ensure(self.packages())
        if self.zookeeper or self.ensemble:
            jars.ensure(self.zookeeper_version)


class Fleet:
    """The servers by name."""

    def __init__(self, wanted: Wanted, ports: Ports, directory: Path) -> None:
        self.servers: dict[str, Server] = {}
        self.ensemble: Ensemble | None = None
        self._ports = ports
        self._directory = directory
        self._version = wanted.zookeeper_version
        if wanted.zookeeper:
            self._zookeeper("zookeeper", wanted.tick_ms)
        if wanted.ensemble:
            members = [self._zookeeper(f"ensemble-{i}", wanted.tick_ms) for i in range(1, MEMBERS + 1)]
            self.ensemble = Ensemble(members, [(ports.take(), ports.take()) for _ in members])
        for number in range(1, wanted.redis + 1):
            self._redis(f"redis-{number}", None)
        if wanted.redis_password:
            self._redis("redis-auth", secrets.token_hex(16))

    def find(self, name: str) -> Server:
        """The server with this name."""
        if name not in self.servers:
            raise ServerError(f"no server {name!r}; there are: {', '.join(self.servers)}")
        return self.servers[name]

    async def start(self) -> None:
        """Starts all at once, and returns when all are ready."""
        servers = list(self.servers.values())
        for server in servers:
            server.directory.mkdir()
            server.prepare()
        await asyncio.gather(*(server.launch() for server in servers))
        await asyncio.gather(*(server.wait_ready() for server in servers))

    async def kill(self) -> None:
        """Ends all processes. Nothing is worth an orderly stop: the data goes as well."""
        await asyncio.gather(*(server.kill() for server in self.servers.values()))

    def environment(self) -> dict[str, str]:
        """The addresses, by the name of the variable that tells them."""
        variables = {f"{PREFIX}SERVERS": f"{HOST}:{self._ports.control_port}"}
        for name, server in self.servers.items():
            if name == "zookeeper":
                variables[f"{PREFIX}ZOOKEEPER"] = server.address
            elif name.startswith("redis-") and name != "redis-auth":
                suffix = name[len("redis") :].replace("-", "_")
                variables[f"{PREFIX}REDIS{'' if suffix == '_1' else suffix}"] = server.address
            elif isinstance(server, Redis) and server.password is not None:
                variables[f"{PREFIX}REDIS_AUTH"] = server.address
                variables[f"{PREFIX}REDIS_AUTH_PASSWORD"] = server.password
        if self.ensemble is not None:
            addresses = (member.address for member in self.ensemble.members)
            variables[f"{PREFIX}ZOOKEEPER_ENSEMBLE"] = ",".join(addresses)
        if any(isinstance(server, ZooKeeper) for server in self.servers.values()):
            variables[f"{PREFIX}ZOOKEEPER_VERSION"] = self._version
        return variables

    def _zookeeper(self, name: str, tick_ms: int) -> ZooKeeper:
        server = ZooKeeper(name, self._ports.take(), self._directory / name, tick_ms, self._version)
        self.servers[name] = server
        return server

    def _redis(self, name: str, password: str | None) -> None:
        self.servers[name] = Redis(name, self._ports.take(), self._directory / name, password)
