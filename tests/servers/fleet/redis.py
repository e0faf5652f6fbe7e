"""Redis servers."""

from __future__ import annotations

import ssl
from pathlib import Path

from .ports import HOST
from .server import Server, ServerError
from .wire import NoAnswer, exchange


class Redis(Server):
    """A Redis that stores nothing on disk: after a kill or stop, it starts empty."""

    kind = "redis"

    def __init__(self, name: str, port: int, directory: Path, password: str | None = None) -> None:
        super().__init__(name, port, directory)
        self.password = password

    def prepare(self) -> None:
        settings = [
            *self.listening(),
            f"dir {self.directory}",
            'save ""',
            "appendonly no",
            "tcp-backlog 511",
            "repl-diskless-sync-delay 0",
        ]
        if self.password is not None:
            settings.append(f"requirepass {self.password}")
        (self.directory / "redis.conf").write_text("\n".join(settings) + "\n")

    def listening(self) -> list[str]:
        """The settings of its ports and addresses."""
        return [f"bind {HOST}", f"port {self.port}"]

    def tls(self) -> ssl.SSLContext | None:
        """The TLS settings for connections to it; None without TLS."""
        return None

    def command(self) -> list[str]:
        return ["redis-server", str(self.directory / "redis.conf")]

    async def answers(self) -> bool:
        try:
            return await self.ask("PING") == "+PONG"
        except NoAnswer:
            return False

    async def flush(self) -> None:
        """Deletes all keys."""
        answer = await self.ask("FLUSHALL")
        if answer != "+OK":
            raise ServerError(f"{self.name}: FLUSHALL: {answer or 'no answer'}")

    async def ask(self, command: str) -> str:
        """Sends a command, and returns its one-line reply."""
        commands = [command, "QUIT"]
        if self.password is not None:
            commands.insert(0, f"AUTH {self.password}")
        request = "".join(line + "\r\n" for line in commands)
        lines = (
            (await exchange(HOST, self.port, request.encode(), tls=self.tls()))
            .decode(errors="replace")
            .splitlines()
        )
        return lines[-2] if len(lines) == len(commands) else " ".join(lines)
