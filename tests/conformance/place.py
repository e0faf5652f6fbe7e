"""The servers of a scenario: addresses, and proxies for the clients whose connection it cuts."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

#: `$n` differs for each scenario, so each has its own `memory:` server.
ADDRESSES = {
    "memory": (None, "memory:$n"),
    "zookeeper": ("FENCEPOST_ZOOKEEPER", "zk://{}{}?session_timeout={}"),
    "redis": ("FENCEPOST_REDIS", "redis://{}"),
}

#: How long a claim lasts without its connection, in ms: for clients in `cuts`, and for all others, whose
#: session must not end on a busy machine.
LEASE, LONG = 2000, 60000


class Place:
    """One kind of server. It closes its proxies."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        variable, self._address = ADDRESSES[backend]
        self._server = ""
        if variable is not None:
            assert variable in os.environ, (
                f"{variable} is not set: run `python3 tests/servers run -- pytest tests/conformance`"
            )
            self._server = os.environ[variable]
        self._proxies: dict[str, tuple[str, str]] = {}

    @property
    def lease(self) -> str:
        """The options for claims that end soon after a cut. On ZooKeeper, the session is short instead."""
        return "" if self.backend == "zookeeper" else f"lease={LEASE}"

    def url(self, client: str, prefix: str, *, cut: bool) -> str:
        """The address of a client."""
        if not cut:
            return self._address.format(self._server, prefix, LONG)
        if client not in self._proxies:
            made = self._ask(f"proxy {'redis-1' if self.backend == 'redis' else 'zookeeper'}")
            self._proxies[client] = (str(made["id"]), made["address"])
        return self._address.format(self._proxies[client][1], prefix, LEASE)

    def do(self, verb: str, client: str) -> None:
        """Cuts or heals the connection of a client."""
        self._ask(f"proxy-{verb} {self._proxies[client][0]}")

    def close(self) -> None:
        """Ends the proxies."""
        for number, _ in self._proxies.values():
            self._ask(f"proxy-close {number}")

    def _ask(self, line: str) -> dict[str, Any]:
        host, port = os.environ["FENCEPOST_SERVERS"].split(":")
        with socket.create_connection((host, int(port))) as connection, connection.makefile("rw") as control:
            print(line, file=control, flush=True)
            answer: dict[str, Any] = json.loads(control.readline())
        assert answer["ok"], answer
        return answer
