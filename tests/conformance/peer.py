"""Controls the peer of one language: the protocol is in README.md."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

#: The time limit of every wait, in seconds. All waits are much shorter.
LIMIT = 40.0

COMMANDS = {
    "rust": [str(TARGET / "debug" / "examples" / "conformance_peer")],
    "python-threads": [sys.executable, str(HERE / "peers" / "threads_peer.py")],
    "python-asyncio": [sys.executable, str(HERE / "peers" / "asyncio_peer.py")],
    "javascript": ["node", "--expose-gc", str(HERE / "peers" / "javascript_peer.mjs")],
    "javascript-ioredis": ["node", "--expose-gc", str(HERE / "peers" / "javascript_peer.mjs"), "ioredis"],
    "c": [str(ROOT / "build" / "conformance" / "c_peer")],
}

Answer = dict[str, Any]


class Peer:
    """A running peer. Commands have numbers, so their answers may come in any order."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by close
        self._process = subprocess.Popen(
            COMMANDS[language],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._numbers = itertools.count(1)
        self._arrived = threading.Condition()
        self._answers: dict[str, Answer] = {}
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, line: str) -> str:
        """Sends a command, and returns its number."""
        number = str(next(self._numbers))
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number} {line}\n")
        self._process.stdin.flush()
        return number

    def answered(self, number: str) -> bool:
        """Whether the answer to a command has arrived."""
        with self._arrived:
            return number in self._answers

    def answer(self, number: str, line: str) -> Answer:
        """Waits for the answer to a command."""
        deadline = time.monotonic() + LIMIT
        with self._arrived:
            while number not in self._answers:
                if self._ended or not self._arrived.wait(deadline - time.monotonic()):
                    self._errors.seek(0)
                    raise AssertionError(f"{self.language}: no answer to `{line}`; {self._errors.read()}")
            return self._answers[number]

    def ask(self, line: str) -> Answer:
        """Sends a command, and waits for its answer."""
        return self.answer(self.send(line), line)

    def close(self) -> int:
        """Ends the peer by closing its input, and returns its exit status."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            return self._process.wait(LIMIT)
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends the peer at once."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait(LIMIT)
        self._reader.join(LIMIT)
        self._process.stdout.close()
        self._errors.close()
        try:
            self._process.stdin.close()
        except OSError:
            pass

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            answer = json.loads(text)
            with self._arrived:
                self._answers[answer["id"]] = answer
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()
