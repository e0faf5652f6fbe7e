"""Locks of other libraries and of fencepost on one path exclude each other, in the order of their arrival."""

from __future__ import annotations

import pytest
from company import has_got, together
from conftest import Start
from counter import CounterServer
from steer import LIMIT, Peer, Servers, wait_until
from tree import Tree

LANGUAGES = ("rust", "c", "python", "javascript")
#: Each other library with each language of fencepost, in the library's layout.
PAIRS = [(theirs, f"{language}-{theirs}") for theirs in ("curator", "kazoo") for language in LANGUAGES]
#: Each pair in both orders.
BOTH_WAYS = [*PAIRS, *((ours, theirs) for theirs, ours in PAIRS)]
EXCLUSIVE = ("mutex", "write", "leader", "semaphore:1")


def join(tree: Tree, path: str, peer: Peer, kind: str, timeout_ms: str = "") -> None:
    """Lets a peer join the wait queue."""
    tree.see_join(path, peer, f"{kind} {path} {timeout_ms}")


@pytest.mark.parametrize(("first", "second"), BOTH_WAYS)
@pytest.mark.parametrize("kind", EXCLUSIVE)
def test_they_exclude_each_other(
    start: Start, tree: Tree, path: str, first: str, second: str, kind: str
) -> None:
    one, two = together(start, first, second)
    fence = int(one.acquire(f"{kind} {path}")["czxid"])
    for timeout in (0, 1000):
        assert not two.ask(f"acquire {kind} {path} {timeout}")["granted"]
    join(tree, path, two, kind)
    one.ask("release")
    has_got(two, fence)
    assert not one.ask(f"acquire {kind} {path} 0")["granted"]
    two.ask("release")
    # Curator's latch deletes the node of a failed try in the background.
    wait_until(lambda: tree.contenders(path) == [], "no node is left")


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
@pytest.mark.parametrize("kind", ["mutex", "write", "leader"])
def test_they_are_served_in_the_order_in_which_they_came(
    start: Start, tree: Tree, path: str, theirs: str, ours: str, kind: str
) -> None:
    peers = together(start, theirs, ours, theirs, ours)
    holder, fence = peers[0], int(peers[0].acquire(f"{kind} {path}")["czxid"])
    for peer in peers[1:]:
        join(tree, path, peer, kind)
    # The waiters get the lock in the order in which they joined.
    for peer in peers[1:]:
        holder.ask("release")
        fence = has_got(peer, fence)
        holder = peer
    holder.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize(("first", "second"), BOTH_WAYS)
def test_readers_share_and_do_not_overtake_a_writer(
    start: Start, tree: Tree, path: str, first: str, second: str
) -> None:
    one, two, three = together(start, first, second, first)
    one.acquire(f"read {path}")
    two.acquire(f"read {path} 0")
    assert not three.ask(f"acquire write {path} 0")["granted"]
    join(tree, path, three, "write")
    two.ask("release")
    # Behind the writer, which came first.
    assert not two.ask(f"acquire read {path} 0")["granted"]
    join(tree, path, two, "read")
    assert len(tree.contenders(path)) == 3
    one.ask("release")
    writer = has_got(three)
    assert not one.ask(f"acquire read {path} 0")["granted"]
    three.ask("release")
    assert has_got(two) > 0
    one.acquire(f"read {path} 0")
    assert writer > 0
    for reader in (one, two):
        reader.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_they_share_the_permits_of_a_semaphore(
    start: Start, tree: Tree, path: str, theirs: str, ours: str
) -> None:
    kind = "semaphore:2"
    one, two, three = together(start, theirs, ours, ours)
    # No tries: contenders get permits one after the other, and the first may still be leaving the wait queue.
    one.acquire(f"{kind} {path}")
    two.acquire(f"{kind} {path}")
    for peer in (one, two, three):
        assert not peer.ask(f"acquire {kind} {path} 0")["granted"]
    three.send(f"acquire {kind} {path}")
    one.ask("release")
    has_got(three)
    assert not one.ask(f"acquire {kind} {path} 0")["granted"]
    one.send(f"acquire {kind} {path}")
    two.ask("release")
    has_got(one)
    for peer in (one, three):
        peer.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.every_version
@pytest.mark.parametrize(("first", "second"), [pair for pair in BOTH_WAYS if "curator" in pair])
def test_many_locks_are_taken_together(start: Start, tree: Tree, path: str, first: str, second: str) -> None:
    one, two = together(start, first, second)
    both = f"{path}/a,{path}/b"
    fence = int(one.acquire(f"multi {both}")["czxid"])
    assert not two.ask(f"acquire multi {both} 150")["granted"]
    assert not two.ask(f"acquire mutex {path}/b 0")["granted"]
    two.send(f"acquire multi {path}/b,{path}/a")
    wait_until(lambda: len(tree.contenders(path)) > 2, "the other waits")
    one.ask("release")
    has_got(two, fence)
    assert not one.ask(f"acquire mutex {path}/a 0")["granted"]
    two.ask("release")
    assert tree.contenders(path) == []


#: The machines are the same in every language, so only one language has all kinds here. Permits, multi-locks
#: and readers of the other languages are in `test_losses.py`.
LOSSES = [
    (*pair, kind)
    for pair in BOTH_WAYS
    for kind in ("mutex", "write", "read", "leader", "semaphore:1")
    if kind in ("mutex", "write", "read") or any(name.startswith("rust") for name in pair)
]
LOSSES += [("curator", "python-threads", "mutex"), ("python-threads", "curator", "mutex")]


@pytest.mark.parametrize(("first", "second", "kind"), LOSSES)
def test_a_killed_process_passes_the_lock_on(
    start: Start, tree: Tree, path: str, first: str, second: str, kind: str
) -> None:
    waits_for = "write" if kind == "read" else kind
    one, two = together(start, first, second, doomed=1)
    fence = int(one.acquire(f"{kind} {path}")["czxid"])
    join(tree, path, two, waits_for)
    one.kill()
    has_got(two, fence)
    two.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize(("first", "second", "kind"), [loss for loss in LOSSES if loss[2] != "read"])
def test_an_expired_session_passes_the_lock_on(
    servers: Servers, start: Start, tree: Tree, path: str, first: str, second: str, kind: str
) -> None:
    one, two = together(start, first, second)
    fence = int(one.acquire(f"{kind} {path}")["czxid"])
    join(tree, path, two, kind)
    servers.expire(one)
    has_got(two, fence)
    one.event("state", state="lost")
    two.ask("release")
    if (first, kind) == ("curator", "leader"):
        # A LeaderLatch joins again as soon as it has a new session, and makes and deletes its node in the
        # background. Only the end of its session removes it.
        one.close()
        tree.wait_for_none(path)
    assert tree.contenders(path) == []


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
@pytest.mark.parametrize("kind", ["mutex", "write", "leader"])
def test_a_waiter_whose_node_was_deleted_queues_again(
    servers: Servers, start: Start, tree: Tree, path: str, theirs: str, ours: str, kind: str
) -> None:
    holder, waiter, last = together(start, theirs, ours, theirs)
    fence = int(holder.acquire(f"{kind} {path}")["czxid"])
    join(tree, path, waiter, kind)
    join(tree, path, last, kind)
    place = tree.contenders(path)
    servers.expire(waiter)
    wait_until(
        lambda: len(now := tree.contenders(path)) == 3 and now != place,
        "the waiter is at the end of the wait queue",
    )
    holder.ask("release")
    fence = has_got(last, fence)
    last.ask("release")
    has_got(waiter, fence)
    waiter.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize("theirs", ["curator", "kazoo"])
@pytest.mark.parametrize("kind", ["mutex", "write"])
def test_not_one_increment_is_lost_through_kills_and_expired_sessions(
    servers: Servers, start: Start, tree: Tree, path: str, theirs: str, kind: str
) -> None:
    rounds = 25
    names = [theirs, *(f"{language}-{theirs}" for language in LANGUAGES)]
    doomed = together(start, *names, doomed=len(names))
    kept = together(start, *names)
    with CounterServer() as server:
        counter, address = server.counter, f"127.0.0.1:{server.port}"
        for peer in doomed:
            peer.send(f"work {kind} {path} {address} 1000000")
        for peer in kept:
            peer.send(f"work {kind} {path} {address} {rounds}")
        for nth, peer in enumerate(doomed):
            assert counter.wait_for(10 * (nth + 1), LIMIT)
            peer.kill()
        # fencepost's peers continue in new sessions; the other libraries give up.
        for peer in kept[1:]:
            servers.expire(peer)
        for peer in kept:
            answer = peer.answer("work")
            assert answer["ok"], f"{peer.name}: {answer}"
            assert answer["done"] == rounds
        assert counter.value >= rounds * len(kept)
        assert counter.lost_updates == 0
        assert counter.fences == sorted(counter.fences)
    tree.wait_for_none(path)
