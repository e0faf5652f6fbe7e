"""The end of a directory's sequence numbers: grants in order up to the border, a clear error beyond it.

A server would need 2^31 creates to reach it, so the test changes the number while the server is stopped.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from elsewhere import Elsewhere
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from refusals import refused, started, wanted
from selection import VERSIONS
from steer import wait_until

pytestmark = pytest.mark.every_version

LAST = 2**31 - 1
#: From here on, no acquire is granted: at its end, the counter stops, and all nodes get the same number.
BORDER = LAST - 1000


@dataclass(frozen=True)
class Case:
    """A contender, and the directory below its path whose sequence numbers end."""

    name: str
    kind: str
    below: str = ""

    def __str__(self) -> str:
        return f"{self.name}-{self.kind}{self.below}".replace("/", "-")

    def path(self, root: str) -> str:
        """The path of its lock."""
        return f"{root}-{self}".replace(":", "-")


CASES = [
    *(Case(f"{language}-curator", "mutex") for language in ("rust", "python", "javascript", "c")),
    Case("rust-kazoo", "mutex"),
    Case("rust-plain", "mutex"),
    Case("rust-curator", "read"),
    Case("rust-curator", "write"),
    Case("rust-curator", "semaphore:1", "/locks"),
    Case("rust-kazoo", "semaphore:1", "-__lock__"),
    Case("rust-curator", "leader"),
    Case("rust-curator", "multi", "/b"),
]
#: Permits are counted, and have no order.
PERMITS = Case("rust-curator", "semaphore:1", "/leases")


class Numbered(Elsewhere):
    """A server on which every case has two directories: one just before the border, and one at the end."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self.operator = KazooClient(self.servers.zookeeper)
        self.operator.start()
        self.before, self.after = (f"/{what}-{uuid.uuid4().hex[:8]}" for what in ("before", "after"))
        for root, number in ((self.before, BORDER - 2), (self.after, LAST)):
            paths = [case.path(root) + case.below for case in (*CASES, PERMITS)]
            for path in paths:
                self.operator.ensure_path(path)
            self.renumber(number, *paths)

    def renumber(self, number: int, *paths: str) -> None:
        """Sets the next sequence number of the directories."""
        self.servers.do(f"renumber zookeeper {number} {','.join(paths)}")
        clients = (self.operator, self.tree.client)
        wait_until(lambda: all(client.connected for client in clients), "we are connected again")

    def close(self) -> None:
        self.operator.stop()
        self.operator.close()
        super().close()


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Numbered]:
    """One server of each version."""
    server = Numbered(request.param)
    yield server
    server.close()


@pytest.fixture
def numbered(server: Numbered) -> Iterator[Numbered]:
    """The same, without the peers of another test."""
    yield server
    server.end_peers()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_last_ones_before_the_border_take_their_turns(numbered: Numbered, case: Case) -> None:
    path, tree = case.path(numbered.before), numbered.tree
    line = wanted(case.kind, path)
    first, second, third = (started(numbered.start, case.name) for _ in range(3))
    held = first.acquire(line)
    tree.see_join(path, second, line)
    # The contender that gets the first number of the border gets an error, and does not wait.
    assert "sequence numbers" in refused(third, f"acquire {line}")
    if case.kind == "read":  # they share
        granted = second.answer("acquire")
        first.ask("release")
    else:
        assert second.unread() == []
        first.ask("release")
        granted = second.answer("acquire")
    assert granted["granted"]
    assert int(granted["czxid"]) > int(held["czxid"])
    second.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_contender_beyond_the_border_is_granted(numbered: Numbered, case: Case) -> None:
    path, tree = case.path(numbered.after), numbered.tree
    line = wanted(case.kind, path)
    one, other = (started(numbered.start, case.name) for _ in range(2))
    for peer in (one, other, one):
        for timeout in ("", " 0", " 1000"):
            error = refused(peer, f"acquire {line}{timeout}")
            assert "sequence numbers" in error
    assert tree.contenders(path) == []
    # The error advises to delete the directory. After that, acquires succeed again.
    numbered.operator.delete(path + case.below, recursive=True)
    for peer in (one, other):
        peer.acquire(line)
        peer.ask("release")
    assert tree.contenders(path) == []


def test_permits_are_counted_whatever_their_numbers_are(numbered: Numbered) -> None:
    for root in (numbered.before, numbered.after):
        line, path = wanted(PERMITS.kind, PERMITS.path(root)), PERMITS.path(root)
        peers = [started(numbered.start, PERMITS.name) for _ in range(3)]
        fences = [int(peers[0].acquire(line)["czxid"])]
        for holder, waiter in pairwise(peers):
            numbered.tree.see_join(path, waiter, line)
            assert waiter.unread() == []
            holder.ask("release")
            granted = waiter.answer("acquire")
            assert granted["granted"]
            fences.append(int(granted["czxid"]))
        peers[-1].ask("release")
        assert fences == sorted(set(fences))
        assert numbered.tree.contenders(path) == []


def test_negative_numbers_belong_to_contenders(numbered: Numbered) -> None:
    path, tree = f"{numbered.after}-negative", numbered.tree
    numbered.operator.ensure_path(path)
    numbered.renumber(LAST - 1, path)
    together = numbered.operator.transaction()
    for _ in range(4):
        together.create(f"{path}/_c_{uuid.uuid4()}-lock-", ephemeral=True, sequence=True)
    made = together.commit()
    # Within one transaction, the server counts beyond the end.
    assert [int(node.rpartition("lock-")[2]) for node in made] == [LAST - 1, LAST, -LAST - 1, -LAST]
    peer = started(numbered.start, "rust-curator")
    for kind in ("mutex", "write", "read"):
        assert "sequence numbers" in refused(peer, f"acquire {kind} {path}")
    assert tree.contenders(path) == sorted(made)
    for node in made:
        numbered.operator.delete(node)
