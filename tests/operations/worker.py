"""Workers: peers of the conformance suite that stand still and are killed; and where they work."""

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
        """How long claims last, in ms, where a worker fails. A client on ZooKeeper makes another connection
        if its own is silent for an eighth of that: a proxy is not to keep anything for so long.
        """
        return 2_000 if self.family == "redis" else 4_000

    @property
    def requests_of_a_claim(self) -> int:
        """How many requests a claim sends at once."""
        return 1 if self.family == "redis" else 2

    @property
    def name(self) -> str:
        """What the control port calls it."""
        return "redis-1" if self.family == "redis" else "zookeeper"

    def url(self, lease: int, address: str = "") -> str:
        """The address of a client whose claims last so long: on ZooKeeper its session says so."""
        if self.family == "redis":
            return f"redis://{address or self.address}"
        return f"zk://{address or self.address}?session_timeout={lease}"


def control(line: str) -> Answer:
    """The answer of the servers' control port, which must be that it is done."""
    host, port = os.environ["FENCEPOST_SERVERS"].split(":")
    address = (host, int(port))
    with socket.create_connection(address, LIMIT) as connection, connection.makefile("rw") as lines:
        print(line, file=lines, flush=True)
        answer: Answer = json.loads(lines.readline())
    assert answer["ok"], answer
    return answer


def wait_until(condition: Callable[[], Any], what: str) -> None:
    """Asks again and again, until it is so."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.005)


class Proxy:
    """A proxy before a server, which can keep what is on its way."""

    def __init__(self, server: Server) -> None:
        made = control(f"proxy {server.name}")
        self._identity, self.address = made["id"], str(made["address"])

    def counts(self) -> Answer:
        """The proxy's counts since the start. `flights` are round trips: requests that the client sends
        together, without waiting for an answer in between, take one.
        """
        return control(f"proxy-count {self._identity}")

    @property
    def requests(self) -> int:
        """How many requests have come, also those that it keeps."""
        total: int = self.counts()["total"]
        return total

    def kept(self, text: str) -> int:
        """How many of the requests that it keeps contain this text."""
        number: int = control(f"proxy-kept {self._identity} {text.encode().hex()}")["kept"]
        return number

    def slow(self, millis: int) -> None:
        """Forwards the server's answers so much later."""
        control(f"proxy-slow {self._identity} {millis}")

    def hold(self) -> None:
        """Keeps everything from now on."""
        control(f"proxy-hold {self._identity}")

    def let_pass(self) -> None:
        """Forwards what it has kept, and everything from now on."""
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
        """The answer to a command, which must be this one."""
        given = self.ask(line)
        assert given["answer"] == answer, f"{self.language}: `{line}`: {given}"
        return given

    def kill(self) -> None:
        """Ends it at once (SIGKILL)."""
        self.killed = True
        super().kill()

    def end(self) -> None:
        """Ends the worker and all that it has. Its exit status must be 0, unless it was killed."""
        if not self.killed:
            self.resume()
            status = self.close()
            assert status == 0, f"{self.language} has ended with {status}"

    def stop(self) -> None:
        """Has it stand still (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Has it go on (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)
