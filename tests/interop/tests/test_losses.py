"""fencepost's clients are killed or lose their session, and the next contender gets the lock.

The other kinds are in `test_together.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from company import has_got, together, waits
from conftest import Start
from refusals import wanted
from steer import Peer, Servers, wait_until
from tree import Tree

KILLED, EXPIRED = "killed", "expired"


class Loss(NamedTuple):
    """A client of fencepost that is killed or loses its session, and the other contender."""

    victim: str
    cause: str
    other: str

    @property
    def doomed(self) -> int:
        """How many of the started peers the test kills: the victim is the first."""
        return 1 if self.cause == KILLED else 0

    def __str__(self) -> str:
        return f"{self.victim}-{self.cause}-{self.other}"

    def strike(self, servers: Servers, victim: Peer) -> None:
        """Ends the victim, or only its session."""
        if self.cause == KILLED:
            victim.kill()
        else:
            servers.expire(victim)


#: The cases of the Rust client are in `test_together.py`.
PERMITS = (
    Loss("c-curator", KILLED, "curator"),
    Loss("c-kazoo", EXPIRED, "kazoo"),
    Loss("python-kazoo", KILLED, "kazoo"),
    Loss("python-curator", EXPIRED, "curator"),
    Loss("python-threads", EXPIRED, "curator"),
    Loss("javascript-curator", KILLED, "curator"),
    Loss("javascript-kazoo", EXPIRED, "kazoo"),
)
MULTI_LOCKS = (
    *(Loss(f"{language}-curator", KILLED, "curator") for language in ("rust", "c", "python", "javascript")),
    Loss("rust-kazoo", EXPIRED, "c-kazoo"),
    Loss("c-curator", EXPIRED, "curator"),
    Loss("python-kazoo", EXPIRED, "javascript-kazoo"),
    Loss("python-threads", KILLED, "c-curator"),
    Loss("javascript-curator", EXPIRED, "curator"),
)
#: Readers that are killed are in `test_together.py`.
READERS = (
    Loss("rust-curator", EXPIRED, "curator"),
    Loss("c-kazoo", EXPIRED, "kazoo"),
    Loss("python-curator", EXPIRED, "curator"),
    Loss("javascript-kazoo", EXPIRED, "kazoo"),
)
#: The waiter behind the victim is another client of fencepost.
WAITERS = (
    (Loss("rust-kazoo", KILLED, "kazoo"), "python-kazoo"),
    (Loss("rust-curator", EXPIRED, "curator"), "c-curator"),
    (Loss("c-kazoo", KILLED, "kazoo"), "javascript-kazoo"),
    (Loss("c-curator", EXPIRED, "curator"), "python-curator"),
    (Loss("python-curator", KILLED, "curator"), "rust-curator"),
    (Loss("python-kazoo", EXPIRED, "kazoo"), "c-kazoo"),
    (Loss("python-threads", EXPIRED, "curator"), "python-threads"),
    (Loss("javascript-curator", KILLED, "curator"), "c-curator"),
    (Loss("javascript-kazoo", EXPIRED, "kazoo"), "rust-kazoo"),
)


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        *(("semaphore:2", loss) for loss in PERMITS),
        *(("multi", loss) for loss in MULTI_LOCKS),
        *(("read", loss) for loss in READERS),
    ],
    ids=str,
)
def test_what_is_lost_is_the_next_ones(
    servers: Servers, start: Start, tree: Tree, path: str, kind: str, loss: Loss
) -> None:
    wants, claim = wanted(kind, path), wanted(kind.replace("read", "write"), path)
    victim, other = together(start, loss.victim, loss.other, doomed=loss.doomed)
    held = victim.acquire(wants)
    if kind == "semaphore:2":
        other.acquire(wants)
    assert not other.ask(f"acquire {claim} 0")["granted"]
    tree.see_join(path, other, claim)
    loss.strike(servers, victim)
    has_got(other, int(held["czxid"]))
    if loss.cause == EXPIRED:
        victim.event("lost", path=held["path"])
    # Only the other contender has nodes, and no third one gets the lock.
    wait_until(lambda: len(tree.sessions(path)) == 1, "only the other one has nodes")
    challenger = victim if loss.cause == EXPIRED else other
    assert not challenger.ask(f"acquire {wants} 0")["granted"]
    if kind == "multi":
        assert not challenger.ask(f"acquire mutex {path}/b 0")["granted"]
    other.ask("release")
    challenger.acquire(wants)
    challenger.ask("release")
    if kind == "semaphore:2":
        other.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize(("loss", "behind"), WAITERS, ids=str)
def test_a_former_waiter_for_a_permit_blocks_no_contender(
    servers: Servers, start: Start, tree: Tree, path: str, loss: Loss, behind: str
) -> None:
    kind = f"semaphore:1 {path}"
    waiter, holder, last = together(start, loss.victim, loss.other, behind, doomed=loss.doomed)
    fence = int(holder.acquire(kind)["czxid"])
    [holding] = tree.sessions(path)
    tree.see_join(path, waiter, kind)
    # The waiter has a node in the wait queue, and a node for its permit.
    wait_until(lambda: len(tree.contenders(path)) == 3, "the first in the wait queue waits for a permit")
    [waiting] = tree.sessions(path) - {holding}
    tree.see_join(path, last, kind)
    loss.strike(servers, waiter)
    left = 2 if loss.cause == KILLED else 3
    wait_until(
        lambda: waiting not in (now := tree.sessions(path)) and len(now) == left,
        "the waiter's nodes are gone, and it waits again if it lives",
    )
    assert tree.sessions(path) > {holding}
    assert waits(last)
    holder.ask("release")
    fence = has_got(last, fence)
    assert not holder.ask(f"acquire {kind} 0")["granted"]
    last.ask("release")
    if loss.cause == EXPIRED:
        has_got(waiter, fence)
        assert not holder.ask(f"acquire {kind} 0")["granted"]
        waiter.ask("release")
    assert tree.contenders(path) == []
