"""ZooKeeper servers: a single one, or the members of an ensemble."""

from __future__ import annotations

import asyncio
import math
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from .child import dies_with_us
from .jars import DEBIAN, classpath
from .ports import HOST
from .server import Server, ServerError
from .wire import NoAnswer, exchange

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
INIT_MS = 10_000
SYNC_MS = 2_000
#: The value of ZooKeeper's example.
SYNC_TICKS = 5
RENUMBER = Path(__file__).parent / "java" / "Renumber.java"

#: The contacts of a server.
EVERYBODY, CLIENTS, NOBODY = "everybody", "clients", "nobody"


class ZooKeeper(Server):
    """One ZooKeeper process. `serves` returns whether enough members of its ensemble run for a quorum."""

    kind = "zookeeper"

    def __init__(self, name: str, port: int, directory: Path, tick_ms: int, version: str = DEBIAN) -> None:
        super().__init__(name, port, directory)
        self.tick_ms = tick_ms
        self.version = version
        self.contact = EVERYBODY
        #: Servers of tests live for seconds or minutes. In that time, the JVM's optimising compiler takes
        #: more processor time than its code saves: a quarter in the suite of faults.
        self.optimises = False
        self.identity: int | None = None
        self.members: list[str] = []
        self.serves: Callable[[], bool] = lambda: True

    def prepare(self) -> None:
        (self.directory / "data").mkdir()
        settings = [
            f"tickTime={self.tick_ms}",
            f"minSessionTimeout={2 * self.tick_ms}",
            "maxSessionTimeout=600000",
            f"initLimit={math.ceil(INIT_MS / self.tick_ms)}",
            f"syncLimit={max(SYNC_TICKS, math.ceil(SYNC_MS / self.tick_ms))}",
            f"dataDir={self.directory / 'data'}",
            f"clientPortAddress={HOST}",
            f"clientPort={self.port}",
            "clientPortListenBacklog=1024",
            "maxClientCnxns=0",
            "forceSync=no",
            "admin.enableServer=false",
            "4lw.commands.whitelist=*",
            *self.members,
        ]
        (self.directory / "zoo.cfg").write_text("\n".join(settings) + "\n")
        if self.identity is not None:
            (self.directory / "data" / "myid").write_text(f"{self.identity}\n")

    def command(self) -> list[str]:
        return [
            "java",
            "-Xms32m",  # there are many of them
            "-Xmx1000m",  # the value of ZooKeeper's scripts
            "-XX:+UseSerialGC",
            *([] if self.optimises else ["-XX:TieredStopAtLevel=1"]),
            "-XX:-UsePerfData",  # would leave a file in /tmp/hsperfdata_USER after SIGKILL
            f"-Djava.io.tmpdir={self.directory}",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dzookeeper.jmx.log4j.disable=true",  # 3.4 needs parts of log4j that are missing here
            "-cp",
            classpath(self.version),
            MAIN,
            str(self.directory / "zoo.cfg"),
        ]

    async def answers(self) -> bool:
        if self.serves() and self.contact == EVERYBODY:
            return await self.mode() is not None
        # Without a quorum, a running process is enough.
        return await self._ask(b"ruok") == "imok"

    async def mode(self) -> str | None:
        """`standalone`, `leader` or `follower`; None while it serves no client."""
        found = re.search(r"^Mode: (\w+)$", await self._ask(b"srvr"), re.MULTILINE)
        return found.group(1) if found else None

    async def renumber(self, number: int, paths: list[str]) -> None:
        """Restarts it with a greater next number for the sequential children of these nodes."""
        if self.members:
            raise ServerError(f"{self.name} is a member of an ensemble: the others would not know of it")
        await self.stop()
        try:
            await self._renumber(number, paths)
        finally:
            await self.start()

    async def _renumber(self, number: int, paths: list[str]) -> None:
        # Java compiles a single source file at its start, so the class always matches the server's version.
        process = await asyncio.create_subprocess_exec(
            *("java", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-cp", classpath(self.version)),
            *(str(RENUMBER), str(self.directory / "data"), str(number), *paths),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            preexec_fn=dies_with_us(signal.SIGKILL),
        )
        output, _ = await process.communicate()
        if process.returncode != 0:
            raise ServerError(f"{self.name} cannot be renumbered: {output.decode(errors='replace')}")

    async def dial(self) -> socket.socket | None:
        """A connection to the server, if its address is not enough."""
        return None

    async def _ask(self, word: bytes) -> str:
        try:
            return (await exchange(HOST, self.port, word, dial=self.dial)).decode(errors="replace")
        except NoAnswer:
            return ""
