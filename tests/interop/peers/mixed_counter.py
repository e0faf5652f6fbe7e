"""The counter of tests/mixed, which checks fences, as a client: read, then write one more."""

from __future__ import annotations

import socket


class CounterClient:
    """A connection to a counter."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._lines = socket.create_connection((host, int(port))).makefile("rw")

    def increment(self, fence: int) -> bool:
        """Whether the counter accepted the fence both times."""
        value = self._ask(f"read {fence}")
        return value != "stale" and self._ask(f"write {fence} {int(value) + 1}") == "ok"

    def look(self, fence: int) -> bool:
        """Whether a resource of tests/faults accepts the fence of a contender that shares the lock."""
        return self._ask(f"look {fence}") != "stale"

    def held(self, fence: int, since: int, until: int) -> None:
        """Records the period in which a grant was valid."""
        self._ask(f"held {fence} {since} {until}")

    def _ask(self, line: str) -> str:
        self._lines.write(line + "\n")
        self._lines.flush()
        return self._lines.readline().strip()
