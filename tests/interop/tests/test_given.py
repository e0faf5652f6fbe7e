"""Clients on the program's own connection: its chroot, login and access list apply to every kind of lock."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.security import CREATOR_ALL_ACL  # type: ignore[import-untyped]
from refusals import ALONE, refused, wanted
from steer import Peer, Servers
from tree import Tree

#: Each uses a connection of its language's client library.
GIVEN = ("rust-curator", "python-curator", "javascript-curator", "c-given")
LOGIN = "shop:secret"


@pytest.fixture
def chroot(servers: Servers) -> Iterator[str]:
    """A directory that belongs to the logged-in user, and is the root for its connection."""
    client = KazooClient(servers.zookeeper, auth_data=[("digest", LOGIN)])
    client.start()
    path = f"/chroot-{uuid.uuid4().hex[:8]}"
    client.create(path, acl=[*CREATOR_ALL_ACL, *client.get_acls("/")[0]])
    yield path
    client.delete(path, recursive=True)
    client.stop()
    client.close()


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("kind", ALONE)
def test_a_given_client_keeps_its_chroot_its_login_and_its_rights(
    servers: Servers, tree: Tree, chroot: str, path: str, name: str, kind: str
) -> None:
    # On a session that the program made, fencepost grants nothing for a quarter of the session timeout.
    peers = [Peer(name, f"{servers.zookeeper}{chroot}", 4000, LOGIN) for _ in range(2)]
    # A client without a login, which sees the whole tree.
    peers.append(Peer("rust-curator", servers.zookeeper))
    one, two, other_user = peers
    try:
        for peer in peers:
            peer.answer("ready")
        held = one.acquire(wanted(kind.replace("read", "write"), path))
        nodes = tree.contenders(f"{chroot}{path}")
        assert nodes
        assert tree.contenders(path) == []
        for node in nodes:
            rights = {(acl.id.scheme, acl.id.id.partition(":")[0]) for acl in tree.client.get_acls(node)[0]}
            assert rights == {("digest", "shop"), ("world", "anyone")}
        assert not two.ask(f"acquire {wanted(kind, path)} 300")["granted"]
        elsewhere = ",".join(chroot + part for part in wanted(kind, path).split()[1].split(","))
        assert "denies this client a right" in refused(other_user, f"acquire {kind} {elsewhere} 0")
        one.ask("release")
        assert int(two.acquire(wanted(kind, path))["czxid"]) > int(held["czxid"])
        two.ask("release")
        assert tree.contenders(f"{chroot}{path}") == []
    finally:
        for peer in peers:
            peer.close()


@pytest.mark.parametrize("name", [*GIVEN, "python-threads"])
def test_a_free_lock_is_granted_on_a_session_that_is_not_proved_yet(
    servers: Servers, tree: Tree, path: str, name: str
) -> None:
    """A try and a short timeout, each on its own new session."""
    claims = [
        (wanted(kind, f"{path}-{kind.partition(':')[0]}-{timeout}"), timeout)
        for kind in ("mutex", "semaphore:1", "multi")
        for timeout in (0, 300)
    ]
    # The session is confirmed after a quarter of its timeout, longer than the 5 s that a client waits for a
    # reply.
    peers = [Peer(name, servers.zookeeper, 24_000, LOGIN) for _ in claims]
    try:
        # All peers start before the first of them acquires.
        for peer in peers:
            peer.answer("ready")
        for peer, (claim, timeout) in zip(peers, claims, strict=True):
            peer.send(f"acquire {claim} {timeout}")
        for peer, (claim, timeout) in zip(peers, claims, strict=True):
            answer = peer.answer("acquire")
            assert answer["ok"], f"{claim} {timeout}: {answer}"
            assert answer["granted"], f"{claim} {timeout}"
            peer.event("valid", path=answer["path"], valid=True)
            peer.ask("release")
            assert not peer.unread("lost"), f"{claim} {timeout}"
    finally:
        for peer in peers:
            peer.close()
