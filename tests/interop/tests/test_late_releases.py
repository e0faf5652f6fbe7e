"""The release of a lost grant reports the loss, in every language and for every kind of lock.

The holder is stopped (SIGSTOP). Meanwhile its session expires and another client gets the lock, or another
client deletes its node. When the holder continues, it first calls release.
"""

from __future__ import annotations

import pytest
from conftest import Start
from refusals import ALONE, OURS, refusal, started, wanted
from steer import Peer
from tree import Tree

#: In milliseconds: the session must expire.
BRIEF_MS = 2000

#: The reasons of a loss. The client reports the reason that it detects first.
LOSSES = ("the lease ended", "ended the session", "was deleted")

#: Leaving a block is possible in some languages.
cases = pytest.mark.parametrize(
    ("name", "verb"),
    [
        *((name, "release") for name in (*OURS, "c-mt", "python-threads")),
        *((name, "leave") for name in ("python-curator", "python-threads", "javascript-curator")),
    ],
)


def kinds(verb: str) -> tuple[str, ...]:
    """A release is tested with every kind; leaving a block is the same for all kinds."""
    return ALONE if verb == "release" else ("mutex",)


def place(path: str, kind: str) -> str:
    """The path of the lock of this kind."""
    return f"{path}-{kind.partition(':')[0]}"


def goes_on_and_learns_of_the_loss(holder: Peer, verb: str, kind: str) -> None:
    """Resumes the holder, which first runs the release, and checks that the release reports the loss."""
    holder.send(verb)
    holder.resume()
    said = refusal(holder, verb)
    assert any(loss in said for loss in LOSSES), f"{kind}: {said}"


@cases
def test_what_another_client_has_taken_is_lost(
    start: Start, tree: Tree, path: str, name: str, verb: str
) -> None:
    # One process for each kind, because the release must be the first action of each after its pause.
    holders = {kind: start(name, BRIEF_MS) for kind in kinds(verb)}
    other = started(start, "rust-curator")
    claims = {kind: wanted(kind.replace("read", "write"), place(path, kind)) for kind in kinds(verb)}
    fences = {}
    for kind, holder in holders.items():
        holder.answer("ready")
        fences[kind] = int(holder.acquire(wanted(kind, place(path, kind)))["czxid"])
    for holder in holders.values():
        holder.pause()
    try:
        for kind, claim in claims.items():
            assert int(other.acquire(claim)["czxid"]) > fences[kind], kind
        for kind, holder in holders.items():
            goes_on_and_learns_of_the_loss(holder, verb, kind)
    finally:
        for holder in holders.values():
            holder.resume()
    # The other client still has its locks.
    for kind, holder in holders.items():
        assert not holder.ask(f"acquire {claims[kind]} 0")["granted"], kind
        other.ask(f"release {claims[kind].split()[1]}")
        tree.wait_for_none(place(path, kind))


@cases
def test_a_lock_that_another_client_has_deleted_is_lost(
    start: Start, tree: Tree, path: str, name: str, verb: str
) -> None:
    holder = started(start, name)
    for kind in kinds(verb):
        wants = wanted(kind, place(path, kind))
        hold = holder.acquire(wants)
        holder.pause()
        tree.client.delete(hold["node"])
        goes_on_and_learns_of_the_loss(holder, verb, kind)
        # No node of the lock is left, and the lock can be acquired again.
        tree.wait_for_none(place(path, kind))
        holder.acquire(wants)
        holder.ask("release")
        assert tree.contenders(place(path, kind)) == [], kind
