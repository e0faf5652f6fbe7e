"""A lock's directory on ZooKeeper, as the server shows it: the queue's length, whether clients are idle."""

from __future__ import annotations

import logging
import math
import socket
import time
import uuid
from collections.abc import Callable
from types import TracebackType

from kazoo.client import KazooClient

from .complaint import Complaint

LIMIT = 120.0
#: Clients are idle if the server gets at most FEW packets in QUIET seconds: pings, confirmations, our polls.
QUIET, FEW = 0.12, 12
#: In a long queue, it gets this many more for each watch, because each waiter rechecks now and then.
LOOKS = 0.007
POLL = 0.02
#: How many creates are sent before waiting for the first reply.
AT_ONCE = 200


def connected(address: str) -> KazooClient:
    """A client of the server."""
    client = KazooClient(address, timeout=10.0)
    client.start(timeout=15)
    return client


class Directory:
    """A lock's directory, with a session of its own."""

    def __init__(self, address: str, lock: str) -> None:
        logging.getLogger("kazoo").setLevel(logging.ERROR)
        self._address = address
        self._path = f"/{lock}"
        self._client = connected(address)
        self._stand_ins: list[KazooClient] = []
        #: How many nodes are stand-ins, not contenders.
        self.standing = 0

    def filled(self, least: int) -> None:
        """Waits until the queue has at least this many contenders."""
        self._until(lambda: self._length() >= least, f"{least} contenders in the queue")

    def emptied(self) -> None:
        """Waits until the queue is empty."""
        for client in self._stand_ins:
            client.stop()
            client.close()
        self._until(lambda: self._length() == 0, "the end of all contenders")

    def settled(self, waiting: int = 0) -> None:
        """Waits until the server has at least this many watches, and no client sends requests."""
        since, before = time.monotonic(), -math.inf
        while time.monotonic() - since < QUIET:
            time.sleep(POLL)
            seen = self._monitored()
            few = FEW + LOOKS * seen["zk_watch_count"]
            if seen["zk_packets_received"] - before > few or seen["zk_watch_count"] < waiting:
                since, before = time.monotonic(), seen["zk_packets_received"]

    def stand_in(self, name: str, count: int) -> None:
        """Makes nodes like those of contenders, in a separate session. `emptied` ends that session."""
        client = connected(self._address)
        self._stand_ins.append(client)
        self.standing += count
        for start in range(0, count, AT_ONCE):
            numbers = [uuid.uuid4() for _ in range(min(AT_ONCE, count - start))]
            paths = [f"{self._path}/{name.format(uuid=number, hex=number.hex)}" for number in numbers]
            asked = [client.create_async(path, ephemeral=True, sequence=True) for path in paths]
            for each in asked:
                each.get(timeout=LIMIT)

    def close(self) -> None:
        """Ends its session."""
        self._client.stop()
        self._client.close()

    def _length(self) -> int:
        stat = self._client.exists(self._path)
        return stat.children_count if stat else 0

    def _monitored(self) -> dict[str, float]:
        host, _, port = self._address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=LIMIT) as server:
            server.sendall(b"mntr")
            report = server.makefile(encoding="utf-8").read()
        pairs = (line.split("\t") for line in report.splitlines())
        return {name: float(value) for name, value in pairs if value.isdecimal()}

    def _until(self, reached: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + LIMIT
        while not reached():
            if time.monotonic() > deadline:
                raise Complaint(f"waited {LIMIT:.0f} s for {what}; there are {self._length()}")
            time.sleep(0.001)

    def __enter__(self) -> Directory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
