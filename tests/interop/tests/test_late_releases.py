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

#: What the clients say of a loss. Which of them is a matter of what the client hears first.
LOSSES = ("the lease ended", "ended the session", "was deleted")

#: Every language, and every kind in one of them.
KINDS = [(name, "mutex", "release") for name in OURS]
KINDS += [(OURS[number % len(OURS)], kind, "release") for number, kind in enumerate(ALONE[1:])]
#: Leaving a block: where a language has such blocks.
BLOCKS = [("python-curator", "mutex", "leave"), ("javascript-curator", "mutex", "leave")]

cases = pytest.mark.parametrize(("name", "kind", "verb"), [*KINDS, *BLOCKS], ids=str)


def hears_of_the_loss(holder: Peer, verb: str) -> None:
    """The holder goes on, and releases first of all."""
    holder.send(verb)
    holder.resume()
    said = refusal(holder, verb)
    assert any(loss in said for loss in LOSSES), said


@cases
def test_what_another_one_has_taken_is_lost(
    start: Start, tree: Tree, path: str, name: str, kind: str, verb: str
) -> None:
    holder, other = started(start, name, BRIEF_MS), started(start, "python-curator")
    claim = wanted(kind.replace("read", "write"), path)
    first = holder.acquire(wanted(kind, path))
    holder.pause()
    try:
        second = other.acquire(claim)
    except BaseException:
        holder.resume()
        raise
    assert int(second["czxid"]) > int(first["czxid"])
    hears_of_the_loss(holder, verb)
    # What the other one has is not touched.
    assert not holder.ask(f"acquire {claim} 0")["granted"]
    other.ask("release")
    tree.wait_for_none(path)


@cases
def test_what_somebody_has_deleted_is_lost(
    start: Start, tree: Tree, path: str, name: str, kind: str, verb: str
) -> None:
    holder = started(start, name)
    wants = wanted(kind, path)
    hold = holder.acquire(wants)
    holder.pause()
    tree.client.delete(hold["node"])
    hears_of_the_loss(holder, verb)
    # Nothing of it is left, and the lock can be had again.
    tree.wait_for_none(path)
    holder.acquire(wants)
    holder.ask("release")
    assert tree.contenders(path) == []
