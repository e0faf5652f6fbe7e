"""All servers of one run: which ones, their names, and their environment variables."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from pathlib import Path

from . import jars, packages
from .ensemble import Ensemble
from .member import Member
from .network import Network
from .ports import HOST, Ports
from .redis import Redis
from .redis_tls import RedisTls
from .server import Server, ServerError
from .zookeeper import ZooKeeper

PREFIX = "FENCEPOST_"
MEMBERS = 3


@dataclass(frozen=True)
class Settings:
    """Which servers to start."""

    zookeeper: bool = True
    ensemble: bool = True
    redis: int = 2
    redis_password: bool = True
    redis_tls: bool = True
    tick_ms: int = 50
    zookeeper_version: str = jars.DEBIAN
    #: Whether ZooKeeper uses the JVM's optimising compiler: see ZooKeeper.optimises.
    optimise: bool = False
    #: Whether each member of the ensemble has its own network namespace.
    namespaces: bool = False

    def packages(self) -> list[str]:
        """The Debian packages that these servers need."""
        needed = []
        if self.zookeeper or self.ensemble:
            needed += jars.needed(self.zookeeper_version)
        if self.namespaces:
            needed.append(packages.IPROUTE)
        if self.redis or self.redis_password or self.redis_tls:
            needed.append(packages.REDIS)
        if self.redis_tls:
            needed.append(packages.OPENSSL)
        return needed

    def ensure(self) -> None:
        """Installs missing packages."""
        packages.ensure(self.packages())
        if self.zookeeper or self.ensemble:
            jars.ensure(self.zookeeper_version)


class Fleet:
    """The servers by name."""

    def __init__(self, settings: Settings, ports: Ports, directory: Path) -> None:
        self.servers: dict[str, Server] = {}
        self.ensemble: Ensemble | None = None
        self.network: Network | None = None
        self._ports = ports
        self._directory = directory
        self._version = settings.zookeeper_version
        self._optimise = settings.optimise
        if settings.zookeeper:
            self._zookeeper("zookeeper", settings.tick_ms)
        if settings.ensemble:
            self.network = Network(MEMBERS) if settings.namespaces else None
            self.ensemble = self._ensemble(settings.tick_ms)
        for number in range(1, settings.redis + 1):
            self._redis(f"redis-{number}", None)
        if settings.redis_password:
            self._redis("redis-auth", secrets.token_hex(16))
        if settings.redis_tls:
            name = "redis-tls"
            self.servers[name] = RedisTls(name, ports.take(), directory / name, secrets.token_hex(16))

    def find(self, name: str) -> Server:
        """The server with this name."""
        if name not in self.servers:
            raise ServerError(f"no server {name!r}; there are: {', '.join(self.servers)}")
        return self.servers[name]

    async def start(self) -> None:
        """Starts all servers at once, and returns when all are ready."""
        if self.network is not None:
            self.network.up()
        servers = list(self.servers.values())
        for server in servers:
            server.directory.mkdir()
            server.prepare()
        await asyncio.gather(*(server.launch() for server in servers))
        await asyncio.gather(*(server.wait_ready() for server in servers))

    async def kill(self) -> None:
        """Kills all processes. An orderly stop is not needed, because the data is deleted too."""
        await asyncio.gather(*(server.kill() for server in self.servers.values()))
        if self.network is not None:
            self.network.down()

    def environment(self) -> dict[str, str]:
        """The addresses, by the name of their environment variable."""
        variables = {f"{PREFIX}SERVERS": f"{HOST}:{self._ports.control_port}"}
        for name, server in self.servers.items():
            if name == "zookeeper":
                variables[f"{PREFIX}ZOOKEEPER"] = server.address
            elif isinstance(server, Redis):
                suffix = name[len("redis") :].replace("-", "_").upper()
                variable = f"{PREFIX}REDIS{'' if suffix == '_1' else suffix}"
                variables[variable] = server.address
                if server.password is not None:
                    variables[f"{variable}_PASSWORD"] = server.password
                if isinstance(server, RedisTls):
                    variables[f"{variable}_CA"] = str(server.ca)
                    variables[f"{variable}_OTHER_CA"] = str(server.other_ca)
        if self.ensemble is not None:
            addresses = (member.address for member in self.ensemble.members)
            variables[f"{PREFIX}ZOOKEEPER_ENSEMBLE"] = ",".join(addresses)
        if any(isinstance(server, ZooKeeper) for server in self.servers.values()):
            variables[f"{PREFIX}ZOOKEEPER_VERSION"] = self._version
        return variables

    def _zookeeper(self, name: str, tick_ms: int) -> ZooKeeper:
        server = ZooKeeper(name, self._ports.take(), self._directory / name, tick_ms, self._version)
        server.optimises = self._optimise
        self.servers[name] = server
        return server

    def _ensemble(self, tick_ms: int) -> Ensemble:
        members: list[ZooKeeper] = []
        quorum = []
        for number in range(1, MEMBERS + 1):
            name = f"ensemble-{number}"
            if self.network is None:
                members.append(self._zookeeper(name, tick_ms))
                host = HOST
            else:
                member = Member(name, self._ports.take(), self._directory / name, tick_ms, self._version)
                member.network = self.network
                members.append(member)
                self.servers[name] = member
                host = self.network.address(number)
            quorum.append((host, self._ports.take(), self._ports.take()))
        return Ensemble(members, quorum)

    def _redis(self, name: str, password: str | None) -> None:
        self.servers[name] = Redis(name, self._ports.take(), self._directory / name, password)
