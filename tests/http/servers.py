"""Starts the servers of the suite, sends them requests, and ends them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
LONG = 60.0
"""Long enough for everything, however busy the machine is, in seconds."""


def _python(name: str) -> list[str]:
    return [sys.executable, str(HERE / "apps" / name)]


def _node(name: str) -> list[str]:
    return ["node", str(HERE / "apps" / name)]


SERVERS: dict[str, list[str]] = {
    "starlette": _python("starlette_app.py"),
    "fastapi": _python("fastapi_app.py"),
    "django-asgi": _python("django_asgi_app.py"),
    "flask": _python("flask_app.py"),
    "django-wsgi": _python("django_wsgi_app.py"),
    "express": _node("express_app.mjs"),
    "fastify": _node("fastify_app.mjs"),
    "hono": _node("hono_app.mjs"),
    "axum": [str(TARGET / "debug" / "examples" / "axum_app")],
}
"""The command of each server program."""


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of ``condition``."""
    end = time.monotonic() + LONG
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited too long until {what}"
        time.sleep(0.01)


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Server:
    """A running server program."""

    def __init__(self, name: str, store: str, effects: str, **options: object) -> None:
        self.name = name
        self.port = free_port()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # close() closes it
        addresses = (f"redis://{store}", f"redis://{effects}")
        self._process = subprocess.Popen(
            # If the suite is killed, its servers end too.
            [
                "setpriv",
                "--pdeathsig",
                "KILL",
                *SERVERS[name],
                str(self.port),
                *addresses,
                json.dumps(options),
            ],
            start_new_session=True,
            stderr=self._log,
        )
        # Each request has its own connection, because a server may close one after an exception.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=LONG, limits=limits)
        wait_until(self._is_ready, f"{name} serves")

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, f"{self.name} has ended"
        try:
            return self.client.get("/ready").status_code == 200
        except httpx.TransportError:
            return False

    def log(self) -> str:
        """The server's standard error."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode()

    def connect(self) -> socket.socket:
        """Opens a separate connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG)

    def kill(self) -> None:
        """Sends SIGKILL to all its processes."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.close()

    def terminate(self) -> None:
        """Sends SIGTERM."""
        self._process.terminate()

    def stop(self) -> None:
        """Sends SIGTERM, and waits for its end."""
        self.terminate()
        self.wait()

    def wait(self) -> None:
        """Waits for its end."""
        try:
            assert self._process.wait(LONG) in (0, -signal.SIGTERM), f"{self.name} has failed"
        finally:
            self.close()

    def close(self) -> None:
        """Ends the server, and frees everything."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self.client.close()
        if not self._log.closed:
            sys.stderr.write(self.log())  # pytest shows it if the test fails.
            self._log.close()
