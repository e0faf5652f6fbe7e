"""Contenders of every line, which work until they are told to stop; they outlast every fault."""

from __future__ import annotations

import random
import uuid
from collections import Counter as Tally
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from book import Resource
from history import conflicts
from lines import LINES, Line
from steer import PATIENCE, Peer

#: Time enough for a full restart, short enough for a member that takes its clients' sessions with it.
SESSION_MS = 8000
#: How long a grant is used: long enough for a fault to find somebody holding.
HOLD_MS = 100


class Gang:
    """The contenders of one line, and what they share."""

    def __init__(self, line: Line, root: str, hosts: str) -> None:
        self.line = line
        self.path = line.path(root)
        self._hosts = hosts
        self.resource = Resource()
        self.peers = [(Peer(name, hosts, SESSION_MS), kind) for name, kind in line.contenders]
        #: Increments that were reported; more may have been made by those who were killed.
        self.done = 0
        self._killed = False

    def work(self) -> None:
        """Has all of them begin."""
        for peer, kind in self.peers:
            self._toil(peer, kind)

    def replace(self, place: int) -> None:
        """Kills one of them, and has another one begin."""
        peer, kind = self.peers[place]
        peer.kill()
        self._killed = True
        self.resource.forget_all()
        peer.close()
        newcomer = Peer(peer.name, self._hosts, SESSION_MS)
        self.peers[place] = (newcomer, kind)
        newcomer.answer("ready")
        self._toil(newcomer, kind)

    def wait_for_everybody(self, since: Tally[int], times: int, but: int) -> None:
        """Waits until every contender, but so many, has held so many times since that tally."""
        served = self.resource.wait_for_everybody(since, len(self.peers) - but, times, PATIENCE)
        said = {peer.name: peer.heard() for peer, _ in self.peers}
        assert served, f"{self.line.name}: somebody waits: {self.resource.tally}, {since} before; {said}"

    def stop(self) -> None:
        """Has all of them stop, when they have had the lock once more."""
        for peer, _ in self.peers:
            peer.ask("stop")

    def rest(self) -> None:
        """Waits until all of them have stopped."""
        for peer, kind in self.peers:
            answer = peer.answer("toil")
            assert answer["ok"], f"{self.line.name}: {peer.name}: {answer}"
            if not kind.startswith(("read", "semaphore")):
                self.done += answer["done"]

    def check(self) -> None:
        """Nothing was lost, and nobody held beside somebody else."""
        counter = self.resource.counter
        assert counter.lost_updates == 0, self.line.name
        assert counter.value >= self.done if self._killed else counter.value == self.done, self.line.name
        self.done, self._killed = counter.value, False
        found = conflicts(self.resource.take_book(), self.line.permits)
        assert not found, f"{self.line.name}: {found}"

    def _toil(self, peer: Peer, kind: str) -> None:
        peer.send(f"toil {kind} {self.path} {self.resource.address} {HOLD_MS}")

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
    """Kills peers, also those that stand still, or are in the middle of something."""
    for peer in peers:
        peer.kill()


class Crew:
    """All lines."""

    def __init__(self, root: str, members: list[str]) -> None:
        # Clients try the members in an order of their own or in that of the address: spread them either way.
        chance = random.Random(5)
        turns = count()

        def hosts() -> str:
            turn = next(turns) % len(members)
            rest = [*members[:turn], *members[turn + 1 :]]
            chance.shuffle(rest)
            return ",".join([members[turn], *rest])

        self.gangs = [Gang(line, root, hosts()) for line in LINES]
        for gang in self.gangs:
            for peer, _ in gang.peers:
                peer.answer("ready")
        #: Whether all that was asked for was answered, and what was written down was right.
        self.sound = True

    def work(self) -> None:
        """Has everybody begin, and waits until everybody has had the lock."""
        self.sound = False
        for gang in self.gangs:
            gang.work()
        self.wait_for_everybody(1)

    def replace_one_of_each(self) -> None:
        """Kills one contender of every line, and has another one begin."""
        for gang in self.gangs:
            gang.replace(0)

    def one_of_each(self) -> list[Peer]:
        """The last contender of every line."""
        return [gang.peers[-1][0] for gang in self.gangs]

    def wait_for_everybody(self, times: int = 2, but: int = 0) -> None:
        """Waits until every contender of every line, but so many, has had its lock so many times more."""
        since = [gang.resource.tallied() for gang in self.gangs]
        for gang, tally in zip(self.gangs, since, strict=True):
            gang.wait_for_everybody(tally, times, but)

    def rest(self) -> None:
        """Has everybody stop."""
        for gang in self.gangs:
            gang.stop()
        for gang in self.gangs:
            gang.rest()

    def check(self) -> None:
        """Checks what the lines have written down."""
        for gang in self.gangs:
            gang.check()
        self.sound = True

    @property
    def paths(self) -> list[str]:
        """Where their nodes are."""
        return [path for gang in self.gangs for path in gang.path.split(",")]

    def close(self) -> None:
        """Ends everybody."""
        if not self.sound:
            for gang in self.gangs:
                kill_all(peer for peer, _ in gang.peers)
        with ThreadPoolExecutor(len(self.gangs)) as threads:
            list(threads.map(Gang.close, self.gangs))


class Crews:
    """A crew that lasts as long as all goes well."""

    def __init__(self, members: list[str]) -> None:
        self._members = members
        self._crew: Crew | None = None

    def sound(self) -> Crew:
        """The crew, or another one if a test has left it in the middle of something."""
        if self._crew is not None and not self._crew.sound:
            self.close()
        if self._crew is None:
            self._crew = Crew(f"/crew-{uuid.uuid4().hex[:8]}", self._members)
        return self._crew

    def close(self) -> None:
        """Ends it."""
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()
