"""Helpers for these tests: they start the script, send commands to it, and wait."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parent
LONG = 60.0


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of `condition`; fails if that takes too long."""
    deadline = time.monotonic() + LONG
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.01)


def start(*arguments: str, tmp: Path | None = None, **options: Any) -> subprocess.Popen[str]:
    """Starts `python3 tests/servers ARGUMENTS...`; `tmp` is the parent of its directory."""
    environment = dict(os.environ, **({"TMPDIR": str(tmp)} if tmp else {}))
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """Waits for the end, checks the exit code and that there is no error output; returns the output."""
    output, errors = process.communicate(timeout=LONG)
    assert (process.returncode, errors) == (code, "")
    return output


def processes_in(directory: Path) -> list[int]:
    """The processes that work in a directory or below: the servers of a run."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if directory in (entry / "cwd").resolve().parents:
                found.append(int(entry.name))
        except OSError:
            pass  # it has ended meanwhile, or belongs to another user
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs. A zombie does not count."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


class Control:
    """A connection to the control port."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=LONG)
        self._lines = self._socket.makefile("r")

    def ask(self, command: str) -> dict[str, Any]:
        """Sends a command, and returns the reply."""
        self._socket.sendall(command.encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer

    def do(self, command: str) -> dict[str, Any]:
        """Sends a command, which must succeed, and returns the reply."""
        answer = self.ask(command)
        assert answer["ok"], answer
        return answer

    def fail(self, command: str) -> str:
        """Sends a command, which must fail, and returns the error."""
        answer = self.ask(command)
        assert not answer["ok"], answer
        return str(answer["error"])

    def count(self, proxy: dict[str, Any]) -> dict[str, Any]:
        """The counts of a proxy."""
        return self.do(f"proxy-count {proxy['id']}")

    def close(self) -> None:
        """Closes the connection."""
        self._lines.close()
        self._socket.close()
