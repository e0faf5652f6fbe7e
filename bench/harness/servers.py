"""The servers of tests/servers: addresses, and the control port, whose proxies count what is on the wire."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .complaint import Complaint

VARIABLES = {"zookeeper": "FENCEPOST_ZOOKEEPER", "redis": "FENCEPOST_REDIS"}
SERVERS = {"zookeeper": "zookeeper", "redis": "redis-1"}
CONTROL = "FENCEPOST_SERVERS"
#: The usual timeout of the other libraries, so that all subjects send equally many pings.
SESSION_MILLISECONDS = 10_000


@dataclass(frozen=True)
class Counts:
    """The counts of a proxy since `forget`."""

    by_kind: dict[str, int]
    flights: int
    #: Messages that are no replies: watch events, published messages.
    events: int
    #: By the client: bytes of requests sent, and bytes of replies and events received.
    bytes_sent: int
    bytes_received: int

    @property
    def kinds(self) -> dict[str, int]:
        """How many requests of each kind, without pings."""
        return {kind: count for kind, count in self.by_kind.items() if kind.lower() != "ping"}

    @property
    def requests(self) -> int:
        """How many requests, without pings."""
        return sum(self.kinds.values())

    @property
    def confirmations(self) -> int:
        """How many session confirmations are among them: one per third of a session's timeout."""
        return self.by_kind.get("sync", 0)

    @property
    def looks(self) -> int:
        """How many of them are rechecks (reads without a watch): two per waiter in three session timeouts."""
        return self.by_kind.get("getData (no watch)", 0)


class Control:
    """The control port."""

    def __init__(self) -> None:
        address = _variable(CONTROL)
        host, _, port = address.rpartition(":")
        try:
            self._socket = socket.create_connection((host, int(port)), timeout=30)
        except (OSError, ValueError) as error:
            raise Complaint(f"{CONTROL}={address}: {error}") from None
        self._lines = self._socket.makefile("rw", encoding="utf-8")

    def ask(self, command: str) -> dict[str, Any]:
        """Sends one command, and returns the reply."""
        self._lines.write(command + "\n")
        self._lines.flush()
        answer: dict[str, Any] = json.loads(self._lines.readline())
        if not answer.get("ok"):
            raise Complaint(f"the servers' control port refused {command!r}: {answer.get('error')}")
        return answer

    def pid(self, family: str) -> int:
        """The process of the family's server."""
        known = {server["name"]: server for server in self.ask("list")["servers"]}
        return int(known[SERVERS[family]]["pid"])

    @contextmanager
    def proxy(self, family: str) -> Iterator[Proxy]:
        """A new proxy in front of the family's server."""
        answer = self.ask(f"proxy {SERVERS[family]}")
        try:
            yield Proxy(self, str(answer["id"]), url(family, answer["address"]))
        finally:
            self.ask(f"proxy-close {answer['id']}")

    def close(self) -> None:
        """Closes the connection."""
        self._lines.close()
        self._socket.close()


class Proxy:
    """A proxy that counts."""

    def __init__(self, control: Control, number: str, url: str) -> None:
        self._control = control
        self._number = number
        self.url = url

    def counts(self) -> Counts:
        """Its counts."""
        answer = self._control.ask(f"proxy-count {self._number}")
        numbers = (int(answer[name]) for name in ("flights", "events", "bytes_sent", "bytes_received"))
        return Counts(dict(answer["by_kind"]), *numbers)

    def forget(self) -> None:
        """Resets the counts."""
        self._control.ask(f"proxy-reset {self._number}")


def url(family: str, address: str) -> str:
    """The address as a URL for clients."""
    if family == "zookeeper":
        return f"zk://{address}?session_timeout={SESSION_MILLISECONDS}"
    return f"redis://{address}"


def server_url(family: str) -> str:
    """The server itself."""
    return url(family, server_address(family))


def server_address(family: str) -> str:
    """Its host and port."""
    return _variable(VARIABLES[family])


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise Complaint(
            f"{name} is not set: run `make bench`, or "
            "`python3 tests/servers run --optimise -- .venv/bin/python bench`"
        )
    return value
