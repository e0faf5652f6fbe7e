"""Clients make directories lazily, and tolerate that a server or an operator deletes them at any time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from conftest import Start
from counter import CounterServer
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.exceptions import NoNodeError, NotEmptyError  # type: ignore[import-untyped]
from refusals import ALONE, OURS, directories, started, wanted
from steer import Servers, wait_until
from tree import Tree

pytestmark = pytest.mark.every_version

BATCHES = 6
ROUNDS = 4


class Reaper:
    """Deletes directories whenever they are empty, as fast as it can."""

    def __init__(self, hosts: str, victims: list[str]) -> None:
        self.reaped = dict.fromkeys(victims, 0)
        self._client = KazooClient(hosts)
        self._client.start()
        self._enough = Event()
        self._thread = Thread(target=self._reap)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Reaps until the block ends."""
        self._thread.start()
        try:
            yield
        finally:
            self._enough.set()
            self._thread.join()
            self._client.stop()
            self._client.close()

    def wait_for(self, victim: str, times: int) -> None:
        """Waits until this directory was deleted that often."""
        wait_until(lambda: self.reaped[victim] >= times, f"{victim} has been taken away {times} times")

    def _reap(self) -> None:
        while not self._enough.is_set():
            for victim in self.reaped:
                try:
                    self._client.delete(victim)
                except (NoNodeError, NotEmptyError):
                    continue
                self.reaped[victim] += 1


@pytest.mark.parametrize("name", [*OURS, "rust-kazoo"])
# Readers share the lock, so increments would be lost.
@pytest.mark.parametrize("kind", [kind for kind in ALONE if kind != "read"])
def test_no_lock_is_lost_with_its_directory(
    servers: Servers, start: Start, tree: Tree, path: str, name: str, kind: str
) -> None:
    # The reaper deletes the innermost directories first, and also their common parent.
    inside = [*reversed(directories(kind, f"{path}/in")), f"{path}/in-__lock__"]
    reaper = Reaper(servers.zookeeper, [*inside, f"{path}/in", path])
    peers = [started(start, name) for _ in range(2)]
    with CounterServer() as server, reaper.at_work():
        for batch in range(BATCHES):
            for peer in peers:
                peer.send(f"work {wanted(kind, f'{path}/in')} 127.0.0.1:{server.port} {ROUNDS}")
            for peer in peers:
                answer = peer.answer("work")
                assert answer["ok"], answer
                assert answer["done"] == ROUNDS
            # While both work, there is always a contender. The next batch begins during the deletion.
            reaper.wait_for(path, batch + 1)
        assert server.counter.value == BATCHES * ROUNDS * len(peers)
        assert server.counter.lost_updates == 0
        assert server.counter.fences == sorted(server.counter.fences)
    assert tree.contenders(path) == []
