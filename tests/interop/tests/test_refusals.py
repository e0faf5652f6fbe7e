"""If the server denies a request, every kind of lock fails at once, and leaves no node behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import Start
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.security import make_acl  # type: ignore[import-untyped]
from refusals import ALONE, KINDS, OURS, directories, refused, started, wanted
from steer import Answer, Peer, Servers
from tree import Tree

#: After the end of a session, the client may report the loss of the node first.
LOST = ("the server has ended the session", "the lock was deleted on the server")


@pytest.fixture(scope="module")
def operator(servers: Servers) -> Iterator[KazooClient]:
    """A client that makes wrong directories and access lists."""
    client = KazooClient(servers.zookeeper)
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize(
    ("kind", "missing"),
    # A lock of one node does not need to read its directory.
    [(kind, right) for kind in KINDS for right in ("create", "read") if (kind, right) != ("single", "read")],
)
def test_a_client_that_may_not_contend_gets_an_error(
    start: Start, operator: KazooClient, tree: Tree, path: str, name: str, kind: str, missing: str
) -> None:
    rights = {right: right != missing for right in ("create", "read", "write", "delete", "admin")}
    for directory in directories(kind, path):
        operator.create(directory, makepath=True)
    for directory in directories(kind, path):
        operator.set_acls(directory, [make_acl("world", "anyone", **rights)])
    peer = started(start, name)
    error = refused(peer, f"acquire {wanted(kind, path)}")
    assert "denies this client a right" in error, error
    peer.close()
    for directory in directories(kind, path):
        operator.set_acls(directory, [make_acl("world", "anyone", all=True)])
    tree.wait_for_none(path)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", ALONE)
def test_a_client_that_may_not_read_its_predecessor_gets_an_error(
    start: Start, operator: KazooClient, tree: Tree, path: str, name: str, kind: str
) -> None:
    holder, peer = started(start, name), started(start, name)
    held = holder.acquire(wanted(kind.replace("read", "write"), path))
    node = tree.contenders(path)[-1] if kind == "multi" else held["node"]
    # A watch on it would be silent, so no client would notice its deletion.
    operator.set_acls(node, [make_acl("world", "anyone", admin=True)])
    if kind == "semaphore:1":
        # Clients count permits, but do not read them.
        assert not peer.ask(f"acquire {wanted(kind, path)} 300")["granted"]
    else:
        assert "denies this client a right" in refused(peer, f"acquire {wanted(kind, path)}")
    operator.set_acls(node, [make_acl("world", "anyone", all=True)])
    holder.ask("release")
    peer.acquire(wanted(kind, path))
    peer.ask("release")
    tree.wait_for_none(path)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_client_that_may_not_release_gets_an_error(
    start: Start, operator: KazooClient, tree: Tree, path: str, name: str, kind: str
) -> None:
    peer = started(start, name)
    for directory in directories(kind, path):
        operator.ensure_path(directory)
    peer.acquire(wanted(kind, path))
    for directory in directories(kind, path):
        operator.set_acls(directory, [make_acl("world", "anyone", create=True, read=True, admin=True)])
    error = refused(peer, "release")
    assert "denies this client a right" in error, error
    # The node is deleted with the session.
    peer.close()
    tree.wait_for_none(path)


@pytest.mark.parametrize("name", OURS)
# A waiter for a single node has created no node, so it leaves none behind.
@pytest.mark.parametrize("kind", [kind for kind in ALONE if kind != "single"])
@pytest.mark.parametrize("timeout_ms", [300, 0])
def test_a_waiter_that_gives_up_and_may_not_delete_gets_an_error(
    start: Start, operator: KazooClient, tree: Tree, path: str, name: str, kind: str, timeout_ms: int
) -> None:
    for directory in directories(kind, path):
        operator.ensure_path(directory)
    holder, peer = started(start, name), started(start, name)
    holder.acquire(wanted(kind.replace("read", "write"), path))
    for directory in directories(kind, path):
        operator.set_acls(directory, [make_acl("world", "anyone", create=True, read=True, admin=True)])
    error = refused(peer, f"acquire {wanted(kind, path)} {timeout_ms}")
    assert "denies this client a right" in error, error
    # The remaining nodes are deleted with the sessions.
    peer.close()
    holder.close()
    tree.wait_for_none(path)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_can_have_no_children_is_refused(
    start: Start, operator: KazooClient, path: str, name: str, kind: str
) -> None:
    # An ephemeral node can have no children.
    places = directories(kind, path)[-1:] if kind == "multi" else [path]
    for place in places:
        operator.create(place, ephemeral=True, makepath=True)
    peer = started(start, name)
    refused(peer, f"acquire {wanted(kind, path)}")
    peer.close()
    for place in places:
        operator.delete(place)
    if kind == "multi":
        assert operator.get_children(path) in ([], ["a"])


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "single"])
def test_children_that_are_no_contenders_are_ignored(
    start: Start, operator: KazooClient, path: str, name: str, kind: str
) -> None:
    unrelated = ("readme", "lock", "_c_-lock-", "x-0000000000", "_c_not-a-uuid-lock-000000000x", "é")
    # In `leases`, Curator counts every child, and so does fencepost.
    places = [directory for directory in directories(kind, path) if not directory.endswith("/leases")]
    for directory in places:
        for name_of_node in unrelated:
            operator.create(f"{directory}/{name_of_node}", makepath=True)
    peer = started(start, name)
    peer.acquire(f"{wanted(kind, path)} 5000")
    peer.ask("release")
    for directory in places:
        assert set(unrelated) <= set(operator.get_children(directory))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        # Curator stores no permit count, so in its layout only two of fencepost's clients detect a mismatch.
        *(("rust-curator", name) for name in OURS),
        *(("kazoo", name.replace("curator", "kazoo")) for name in OURS),
    ],
)
def test_a_permit_count_mismatch_is_refused(
    start: Start, tree: Tree, path: str, theirs: str, ours: str
) -> None:
    other, mine = started(start, theirs), started(start, ours)
    other.acquire(f"semaphore:2 {path}")
    refused(mine, f"acquire semaphore:3 {path}")
    other.ask("release")
    mine.acquire(f"semaphore:3 {path}/mine")
    refused(other, f"acquire semaphore:2 {path}/mine")
    mine.ask("release")
    tree.wait_for_none(path)


@pytest.mark.parametrize("name", OURS)
def test_a_permit_count_mismatch_is_refused_behind_waiters(
    start: Start, tree: Tree, path: str, name: str
) -> None:
    holder, waiter, mine = (started(start, name) for _ in range(3))
    holder.acquire(f"semaphore:1 {path}")
    tree.see_join(path, waiter, f"semaphore:1 {path}")
    refused(mine, f"acquire semaphore:2 {path}")
    assert not holder.ask(f"acquire semaphore:1 {path} 0")["granted"]
    holder.ask("release")
    waiter.answer("acquire")
    waiter.ask("release")
    tree.wait_for_none(path)


# Not in Rust, where a release consumes the grant.
@pytest.mark.parametrize("name", [name for name in OURS if not name.startswith("rust")])
def test_a_second_release_takes_nothing_from_others(start: Start, tree: Tree, path: str, name: str) -> None:
    one, two = started(start, name), started(start, name)
    one.acquire(f"mutex {path}")
    tree.see_join(path, two, f"mutex {path}")
    one.ask("release")
    held = two.answer("acquire")
    assert "there is no grant" in refused(one, "release-again")
    still_has(two, held, one, tree)
    two.ask("release")
    # A second release also takes nothing from the client itself after a new acquire.
    held = one.acquire(f"mutex {path}")
    assert "there is no grant" in refused(one, "release-again")
    still_has(one, held, two, tree)
    one.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize("name", OURS)
def test_the_release_of_a_lost_lock_takes_nothing_from_others(
    servers: Servers, start: Start, tree: Tree, path: str, name: str
) -> None:
    one, two = started(start, name), started(start, name)
    lost = one.acquire(f"mutex {path}")
    tree.see_join(path, two, f"mutex {path}")
    servers.expire(one)
    held = two.answer("acquire")
    one.event("lost", path=path)
    error = refused(one, f"release {lost['node']}")
    assert any(reason in error for reason in LOST), error
    still_has(two, held, one, tree)
    two.ask("release")
    assert tree.contenders(path) == []


def still_has(holder: Peer, held: Answer, other: Peer, tree: Tree) -> None:
    """Checks that the holder still has the lock. The other client's try comes after its earlier requests."""
    assert held["granted"]
    assert not other.ask(f"acquire mutex {held['path']} 0")["granted"]
    assert tree.contenders(held["path"]) == [held["node"]]
    assert not holder.unread("lost")
