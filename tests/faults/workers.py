"""Contenders of every workload, which run until `stop`, during all faults."""

from __future__ import annotations

import random
import uuid
from collections import Counter as Tally
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from book import Resource
from history import conflicts
from steer import LIMIT, Peer
from workloads import WORKLOADS, Workload

#: Long enough for a restart of all members; short, because a member that fails may end its clients' sessions.
SESSION_MS = 8000
#: How long a grant is used: so long that a contender holds the lock when a fault happens.
HOLD_MS = 150


class WorkerGroup:
    """The contenders of one workload, and their resource."""

    def __init__(self, workload: Workload, root: str, hosts: str) -> None:
        self.workload = workload
        self.path = workload.path(root)
        self._hosts = hosts
        self.resource = Resource()
        self.peers = [(Peer(name, hosts, SESSION_MS), kind) for name, kind in workload.contenders]
        #: The increments that were reported; contenders that were killed may have made more.
        self.done = 0
        self._killed = False

    def start(self) -> None:
        """Starts all of them."""
        for peer, kind in self.peers:
            self._start(peer, kind)

    def replace(self, place: int) -> None:
        """Kills one of them, and starts another one in its place."""
        peer, kind = self.peers[place]
        peer.kill()
        self._killed = True
        self.resource.clear_tally()
        peer.close()
        newcomer = Peer(peer.name, self._hosts, SESSION_MS)
        self.peers[place] = (newcomer, kind)
        newcomer.answer("ready")
        self._start(newcomer, kind)

    def wait_for_all(self, since: Tally[int], times: int, except_for: int) -> None:
        """Waits until all but `except_for` contenders have held the lock `times` times since that tally."""
        served = self.resource.wait_for_all(since, len(self.peers) - except_for, times, LIMIT)
        unread = {peer.name: peer.unread() for peer, _ in self.peers}
        assert served, (
            f"{self.workload.name}: a contender still waits: {self.resource.tally}, {since} before; {unread}"
        )

    def request_stop(self) -> None:
        """Asks all of them to stop after one more acquire and release."""
        for peer, _ in self.peers:
            peer.ask("stop")

    def wait_for_stop(self) -> None:
        """Waits until all of them have stopped."""
        for peer, kind in self.peers:
            answer = peer.answer("workload")
            assert answer["ok"], f"{self.workload.name}: {peer.name}: {answer}"
            if not kind.startswith(("read", "semaphore")):
                self.done += answer["done"]

    def check(self) -> None:
        """Checks that no increment was lost and that no grants overlapped."""
        counter = self.resource.counter
        assert counter.lost_updates == 0, self.workload.name
        assert counter.value >= self.done if self._killed else counter.value == self.done, self.workload.name
        self.done, self._killed = counter.value, False
        found = conflicts(self.resource.take_book(), self.workload.permits)
        assert not found, f"{self.workload.name}: {found}"

    def _start(self, peer: Peer, kind: str) -> None:
        peer.send(f"workload {kind} {self.path} {self.resource.address} {HOLD_MS}")

    def close(self) -> None:
        """Ends them."""
        close_all(peer for peer, _ in self.peers)
        self.resource.close()


def close_all(peers: Iterable[Peer]) -> None:
    """Ends peers, all at once."""
    peers = list(peers)
    with ThreadPoolExecutor(len(peers)) as threads:
        list(threads.map(Peer.close, peers))


def kill_all(peers: Iterable[Peer]) -> None:
    """Kills peers, including paused peers and peers that run a command."""
    for peer in peers:
        peer.kill()


class Workers:
    """The workers of all workloads."""

    def __init__(self, root: str, members: list[str]) -> None:
        # Clients try the members in random order or in the order of the address. This spreads both over the
        # members.
        chance = random.Random(5)
        turns = count()

        def hosts() -> str:
            turn = next(turns) % len(members)
            rest = [*members[:turn], *members[turn + 1 :]]
            chance.shuffle(rest)
            return ",".join([members[turn], *rest])

        self.groups = [WorkerGroup(workload, root, hosts()) for workload in WORKLOADS]
        for group in self.groups:
            for peer, _ in group.peers:
                peer.answer("ready")
        #: Whether all commands got an answer and the last check passed.
        self.usable = True

    def start(self) -> None:
        """Starts all workers, and waits until each one has held its lock."""
        self.usable = False
        for group in self.groups:
            group.start()
        self.wait_for_all(1)

    def replace_one_of_each(self) -> None:
        """Kills one contender of every workload, and starts another one in its place."""
        for group in self.groups:
            group.replace(0)

    def one_of_each(self) -> list[Peer]:
        """The last contender of every workload."""
        return [group.peers[-1][0] for group in self.groups]

    def wait_for_all(self, times: int = 2, except_for: int = 0) -> None:
        """Waits until all but `except_for` contenders of each workload have held it `times` more times."""
        since = [group.resource.tallied() for group in self.groups]
        for group, tally in zip(self.groups, since, strict=True):
            group.wait_for_all(tally, times, except_for)

    def stop(self) -> None:
        """Stops all workers."""
        for group in self.groups:
            group.request_stop()
        for group in self.groups:
            group.wait_for_stop()

    def check(self) -> None:
        """Checks the resources of all workloads."""
        for group in self.groups:
            group.check()
        self.usable = True

    @property
    def paths(self) -> list[str]:
        """The paths of their nodes."""
        return [path for group in self.groups for path in group.path.split(",")]

    def close(self) -> None:
        """Ends all workers."""
        if not self.usable:
            for group in self.groups:
                kill_all(peer for peer, _ in group.peers)
        with ThreadPoolExecutor(len(self.groups)) as threads:
            list(threads.map(WorkerGroup.close, self.groups))


class WorkerPool:
    """Keeps the workers until a test fails."""

    def __init__(self, members: list[str]) -> None:
        self._members = members
        self._workers: Workers | None = None

    def get(self) -> Workers:
        """The workers, or new ones if a test has failed while it used them."""
        if self._workers is not None and not self._workers.usable:
            self.close()
        if self._workers is None:
            self._workers = Workers(f"/workers-{uuid.uuid4().hex[:8]}", self._members)
        return self._workers

    def close(self) -> None:
        """Ends it."""
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()
