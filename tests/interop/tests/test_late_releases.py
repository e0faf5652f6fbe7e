"""A release of what was lost says that it was lost, in every language and for every kind of lock.

Whoever holds stands still (SIGSTOP). Meanwhile its session runs out and another client takes the lock,
or somebody deletes its node. The release is the first thing that it does when it goes on.
"""

from __future__ import annotations

import pytest
from conftest import Start
from refusals import ALONE, OURS, refusal, started, wanted
from steer import Peer
from tree import Tree

#: Milliseconds: the session has to run out.
BRIEF_MS = 2000

#: The reasons of a loss. The client reports the one that it learns first.
LOSSES = ("the lease ended", "ended the session", "was deleted")

#: Leaving a block: where a language has such blocks.
cases = pytest.mark.parametrize(
    ("name", "verb"),
    [
        *((name, "release") for name in (*OURS, "c-mt", "python-threads")),
        *((name, "leave") for name in ("python-curator", "python-threads", "javascript-curator")),
    ],
)


def kinds(verb: str) -> tuple[str, ...]:
    """Every kind is released; blocks are the same for all."""
    return ALONE if verb == "release" else ("mutex",)


def place(path: str, kind: str) -> str:
    """Where the lock of this kind lies."""
    return f"{path}-{kind.partition(':')[0]}"


def goes_on_and_learns_of_the_loss(holder: Peer, verb: str, kind: str) -> None:
    """The holder goes on, and releases first of all."""
    holder.send(verb)
    holder.resume()
    said = refusal(holder, verb)
    assert any(loss in said for loss in LOSSES), f"{kind}: {said}"


@cases
def test_what_another_client_has_taken_is_lost(
    start: Start, tree: Tree, path: str, name: str, verb: str
) -> None:
    # One process for each kind: the release is to be the first thing that each of them does.
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
    # What the other client has is not touched.
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
        # Nothing of it is left, and the lock can be had again.
        tree.wait_for_none(place(path, kind))
        holder.acquire(wants)
        holder.ask("release")
        assert tree.contenders(place(path, kind)) == [], kind
