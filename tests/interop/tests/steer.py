"""Controls peers and servers for the tests."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PEERS = ROOT / "tests" / "interop" / "peers"
JARS = ROOT / "build" / "jars"
CLASSES = ROOT / "build" / "interop"

#: The time limit of every wait, in seconds. All waits are much shorter.
LIMIT = 40.0

#: The timeout of a peer's session, in milliseconds.
SESSION_MS = 10_000

#: A small JVM that starts fast, because the tests start many for a short time.
JAVA = ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto"]
LOGS = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]

#: fencepost's Rust client, in its default layout.
RUST = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "peer"

#: fencepost's C client: alone; in a program with the threaded ZooKeeper library; on the program's handle.
C = ROOT / "build" / "interop" / "c_peer"
C_THREADS = ROOT / "build" / "interop" / "c_mt_peer"
C_GIVEN = ROOT / "build" / "interop" / "c_given_peer"

COMMANDS = {
    "curator": [*JAVA, *LOGS, "-cp", f"{CLASSES}:{JARS}/*", "Peer"],
    "kazoo": [sys.executable, str(PEERS / "kazoo_peer.py")],
    "javascript-curator": ["node", str(PEERS / "javascript_peer.mjs"), "curator"],
    "javascript-kazoo": ["node", str(PEERS / "javascript_peer.mjs"), "kazoo"],
    "python-curator": [sys.executable, str(PEERS / "python_peer.py"), "curator"],
    "python-threads": [sys.executable, str(PEERS / "python_threads_peer.py"), "curator"],
    "python-kazoo": [sys.executable, str(PEERS / "python_peer.py"), "kazoo"],
    "rust-curator": [str(RUST), "curator"],
    "rust-kazoo": [str(RUST), "kazoo"],
    "rust-plain": [str(RUST), "plain"],
    "c-curator": [str(C), "curator"],
    "c-mt": [str(C_THREADS), "curator"],
    "c-given": [str(C_GIVEN), "curator"],
    "c-kazoo": [str(C), "kazoo"],
}

Answer = dict[str, Any]


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of `condition`; fails if that takes too long."""
    deadline = time.monotonic() + LIMIT
    while True:
        begin = time.monotonic()
        value = condition()
        if value:
            return value
        end = time.monotonic()
        assert end < deadline, f"waited too long until {what}"
        # Poll rarely, so that the servers have time for the contenders.
        time.sleep(max(0.01, 4 * (end - begin)))


class Peer:
    """A running peer: its answers by command, its events by name. A test reads each once."""

    def __init__(self, name: str, hosts: str, session_ms: int = SESSION_MS, *login: str) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by close
        self.process = subprocess.Popen(
            [*COMMANDS[name], hosts, str(session_ms), *login],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._arrived = threading.Condition()
        self._lines: list[Answer] = []
        self._ended = False
        self._ready: list[Answer] = []
        self._unanswered = self._holds = 0
        self._spent = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, line: str) -> None:
        """Sends a command."""
        assert self.process.stdin is not None
        self._unanswered += 1
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self, command: str) -> Answer:
        """Waits for the answer to the earliest `command` whose answer was not read yet."""
        return self._next(lambda line: line.get("answer") == command, f"the answer to {command}")

    def ask(self, line: str) -> Answer:
        """Sends a command, which must succeed, and returns the answer."""
        self.send(line)
        answer = self.answer(line.split()[0])
        assert answer["ok"], f"{self.name}: {line}: {answer}"
        return answer

    def acquire(self, line: str) -> Answer:
        """Sends an `acquire`, which must be granted, and returns the answer."""
        answer = self.ask(f"acquire {line}")
        assert answer["granted"], f"{self.name}: {line}: {answer}"
        return answer

    def event(self, name: str, **fields: object) -> Answer:
        """The next event of this name with these values."""
        expected = {"event": name, **fields}
        return self._next(lambda line: expected.items() <= line.items(), f"the event {expected}")

    def unread(self, name: str | None = None) -> list[Answer]:
        """The events with this name, or all lines, that have arrived but were not read yet."""
        with self._arrived:
            return [line for line in self._lines if name is None or line.get("event") == name]

    def spend(self) -> None:
        """Marks it as not reusable, because the test has changed its session or its process."""
        self._spent = True

    def reset(self) -> bool:
        """Makes it reusable for another test. Returns false if this is not possible: it holds, waits for or
        has lost a lock.
        """
        with self._arrived:
            for line in self._lines:
                self._note(line)
            if not self._ready or self._spent or self._ended or self._unanswered or self._holds:
                return False
            self._lines[:] = self._ready
            return True

    def kill(self) -> None:
        """Ends it at once (SIGKILL). Its session expires later."""
        self.spend()
        self.process.kill()
        self.process.wait(LIMIT)

    def pause(self) -> None:
        """Pauses it (SIGSTOP)."""
        self.spend()
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resumes it (SIGCONT)."""
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Ends it by closing its input; its session ends too."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(LIMIT)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(LIMIT)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self._errors.close()

    def _next(self, fits: Callable[[Answer], bool], what: str) -> Answer:
        deadline = time.monotonic() + LIMIT
        with self._arrived:
            while True:
                for line in self._lines:
                    if fits(line):
                        self._lines.remove(line)
                        self._note(line)
                        return line
                remaining = deadline - time.monotonic()
                if self._ended or not self._arrived.wait(remaining):
                    self._errors.seek(0)
                    raise AssertionError(
                        f"{self.name} did not say {what}; unread: {self._lines}; {self._errors.read()}"
                    )

    def _note(self, line: Answer) -> None:
        """Tracks what the peer holds, and whether all its answers were read."""
        answer = line.get("answer")
        self._spent |= line.get("event") == "lost" or line.get("state") in ("suspended", "lost")
        if answer == "ready":
            self._ready = [line]
        elif answer is not None:
            self._unanswered -= 1
            self._holds += bool(line.get("granted")) - (answer in ("release", "leave"))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            with self._arrived:
                self._lines.append(json.loads(text))
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()


class Servers:
    """A run of tests/servers, without a command."""

    def __init__(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "servers"), "run", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the servers did not start: {options}"
        self.addresses: dict[str, str] = json.loads(line)
        host, _, port = self.addresses["FENCEPOST_SERVERS"].rpartition(":")
        self._control = socket.create_connection((host, int(port)), timeout=LIMIT)
        self._lines = self._control.makefile("rw")

    @property
    def zookeeper(self) -> str:
        """The single ZooKeeper's address."""
        return self.addresses["FENCEPOST_ZOOKEEPER"]

    def do(self, command: str) -> Answer:
        """Sends a command to the control port, which must succeed, and returns the reply."""
        self._lines.write(command + "\n")
        self._lines.flush()
        answer: Answer = json.loads(self._lines.readline())
        assert answer["ok"], answer
        return answer

    def expire(self, peer: Peer) -> None:
        """Ends a peer's session at once."""
        session = peer.ask("session")
        peer.spend()
        self.do(f"expire zookeeper {session['session']} {session['password']}")

    def close(self) -> None:
        """Ends the servers."""
        self._lines.close()
        self._control.close()
        self._process.communicate(timeout=LIMIT)
