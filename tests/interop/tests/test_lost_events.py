"""A client that may no longer read a node gets no watch event. It detects the change by a recheck."""

from __future__ import annotations

import pytest
from conftest import Start
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.security import make_acl  # type: ignore[import-untyped]
from refusals import ALONE, OURS, refusal, started, wanted
from steer import Peer, wait_until
from tree import Tree

#: In milliseconds. A recheck happens after about three session timeouts.
SESSION = 1500
EVERYTHING = [make_acl("world", "anyone", all=True)]
ALL_BUT_READ = [make_acl("world", "anyone", create=True, write=True, delete=True, admin=True)]


@pytest.fixture
def operator(tree: Tree) -> KazooClient:
    """The client that grants rights and revokes them."""
    return tree.client


def waited_for(
    operator: KazooClient, tree: Tree, path: str, kind: str, peers: tuple[Peer, Peer]
) -> tuple[str, int]:
    """Lets one peer hold and the other wait. Returns the node that the waiter watches, and its session."""
    holder, waiter = peers
    held = holder.acquire(wanted(kind.replace("read", "write"), path))
    watched = str(held["node"] if kind != "multi" else tree.contenders(path)[-1])
    there = set(tree.contenders(path))
    waiter.send(f"acquire {wanted(kind, path)}")
    if kind == "semaphore:1":
        # The server lists only watches on data: the one on the waiter's own permit is set last.
        def own() -> list[str]:
            return [node for node in tree.contenders(path) if "/leases/" in node and node not in there]

        [permit] = wait_until(own, "the waiter asks for a permit")
        [session] = wait_until(lambda: tree.watchers(permit), f"{permit} is watched")
        return f"{path}/leases", session
    owner = operator.exists(watched).ephemeralOwner
    others = wait_until(lambda: tree.watchers(watched) - {owner}, f"{watched} is watched by another")
    [session] = others
    return watched, session


def is_there(operator: KazooClient, session: int) -> bool:
    """Whether a session has a connection."""
    return f"sid={session:#x}," in operator.command(b"cons")


@pytest.mark.parametrize("name", [*OURS, "python-threads"])
@pytest.mark.parametrize("kind", ["write", "semaphore:1", "single"])
def test_a_waiter_that_may_not_read_any_more_gets_an_error(
    start: Start, operator: KazooClient, tree: Tree, path: str, name: str, kind: str
) -> None:
    holder, waiter = started(start, name), started(start, name, SESSION)
    watched, session = waited_for(operator, tree, path, kind, (holder, waiter))
    operator.set_acls(watched, ALL_BUT_READ)
    error = refusal(waiter, "acquire")
    assert "denies this client a right" in error, error
    assert is_there(operator, session)
    operator.set_acls(watched, EVERYTHING)
    holder.ask("release")
    tree.wait_for_none(path)


@pytest.mark.parametrize("kind", ALONE)
def test_a_waiter_without_the_event_of_a_release_is_granted(
    start: Start, operator: KazooClient, tree: Tree, path: str, kind: str
) -> None:
    name = "rust-curator"
    holder, waiter = started(start, name), started(start, name, SESSION)
    watched, session = waited_for(operator, tree, path, kind, (holder, waiter))
    operator.set_acls(watched, ALL_BUT_READ)
    holder.ask("release")
    if kind == "semaphore:1":
        operator.set_acls(watched, EVERYTHING)
    assert waiter.answer("acquire")["granted"]
    assert is_there(operator, session)
    waiter.ask("release")
    tree.wait_for_none(path)
