"""Workers (peers of the conformance suite that tests stop and kill), and their servers."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from peer import LIMIT, Answer, Peer

LANGUAGES = ("rust", "python-threads", "python-asyncio", "javascript", "c")
POLICIES = ("retake", "block", "indeterminate")

#: How long claims last without a renewal, in ms, however busy the machine is.
LONG = 60_000


@dataclass(frozen=True)
class Server:
    """A server, and a scope on it."""

    family: str
    address: str
    scope: str

    @property
    def lease(self) -> int:
        """How long claims of failing workers last, in ms. A client on ZooKeeper makes another connection if
        its connection is silent for an eighth of that time, so a proxy must not keep requests for so long.
        """
        return 2_000 if self.family == "redis" else 4_000

    @property
    def requests_of_a_claim(self) -> int:
        """How many requests a claim sends at once."""
        return 1 if self.family == "redis" else 2

    @property
    def name(self) -> str:
        """The server's name for the control port."""
        return "redis-1" if self.family == "redis" else "zookeeper"

    def url(self, lease: int, address: str = "") -> str:
        """The address of a client whose claims last for `lease` ms: on ZooKeeper its session timeout."""
        if self.family == "redis":
            return f"redis://{address or self.address}"
        return f"zk://{address or self.address}?session_timeout={lease}"


def control(line: str) -> Answer:
    """Sends a command to the servers' control port, which must succeed, and returns the reply."""
    host, port = os.environ["FENCEPOST_SERVERS"].split(":")
    address = (host, int(port))
    with socket.create_connection(address, LIMIT) as connection, connection.makefile("rw") as lines:
        print(line, file=lines, flush=True)
        answer: Answer = json.loads(lines.readline())
    assert answer["ok"], answer
    return answer


def wait_until(condition: Callable[[], Any], what: str) -> None:
    """Polls until the condition holds."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.005)


class Proxy:
    """A proxy in front of a server, which can keep messages."""

    def __init__(self, server: Server) -> None:
        made = control(f"proxy {server.name}")
        self._identity, self.address = made["id"], str(made["address"])

    def counts(self) -> Answer:
        """The proxy's counts since the start. `flights` are round trips: requests that the client sends
        without waiting for a reply in between are one flight.
        """
        return control(f"proxy-count {self._identity}")

    @property
    def requests(self) -> int:
        """How many requests have arrived, including those that the proxy keeps."""
        total: int = self.counts()["total"]
        return total

    def kept(self, text: str) -> int:
        """How many of the kept requests contain this text."""
        number: int = control(f"proxy-kept {self._identity} {text.encode().hex()}")["kept"]
        return number

    def slow(self, millis: int) -> None:
        """Delays the server's replies by `millis`."""
        control(f"proxy-slow {self._identity} {millis}")

    def hold(self) -> None:
        """Keeps everything from now on."""
        control(f"proxy-hold {self._identity}")

    def let_pass(self) -> None:
        """Forwards the kept messages, and all later ones."""
        control(f"proxy-pass {self._identity}")

    def close(self) -> None:
        """Ends the proxy."""
        control(f"proxy-close {self._identity}")


class Worker(Peer):
    """A peer that works in one scope."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.killed = False

    def begin(self, server: Server, lease: int = LONG, proxy: Proxy | None = None) -> None:
        """Connects, and makes a scope of each policy."""
        url = server.url(lease, "" if proxy is None else proxy.address)
        self.must("ok", f"client one {quote(url)}")
        option = f" lease={lease}" if server.family == "redis" else ""
        for policy in POLICIES:
            self.must("ok", f"scope {policy} one {server.scope} on_lease_end={policy}{option}")

    def must(self, answer: str, line: str) -> Answer:
        """Sends a command, checks the name of its answer, and returns the answer."""
        given = self.ask(line)
        assert given["answer"] == answer, f"{self.language}: `{line}`: {given}"
        return given

    def kill(self) -> None:
        """Ends it at once (SIGKILL)."""
        self.killed = True
        super().kill()

    def end(self) -> None:
        """Ends the worker and closes its clients. Its exit status must be 0, unless it was killed."""
        if not self.killed:
            self.resume()
            status = self.close()
            assert status == 0, f"{self.language} has ended with {status}"

    def stop(self) -> None:
        """Stops it (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continues it (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)
