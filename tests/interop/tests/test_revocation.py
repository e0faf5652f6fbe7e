"""Revocation requests: from fencepost to Curator's holders, and from Curator's Revoker to fencepost's."""

from __future__ import annotations

import pytest
from conftest import Start
from steer import Peer
from tree import Tree

OURS = ("rust-curator", "python-curator", "javascript-curator", "c-curator")


def together(start: Start, *names: str) -> list[Peer]:
    """Starts peers at the same time."""
    peers = [start(name) for name in names]
    for peer in peers:
        peer.answer("ready")
    return peers


@pytest.mark.parametrize(
    ("holder", "asker"), [*(("curator", ours) for ours in OURS), *((ours, "curator") for ours in OURS)]
)
def test_a_holder_releases_after_a_revocation_request(
    start: Start, tree: Tree, path: str, holder: str, asker: str
) -> None:
    one, two = together(start, holder, asker)
    held = one.acquire(f"revocable {path}")
    tree.see_join(path, two, f"mutex {path}")
    two.ask(f"revoke {held['node']}")
    assert one.event("revoke")["path"] == path
    # It is only a request: the other contender gets the lock after the holder releases it.
    assert len(tree.contenders(path)) == 2
    one.ask("release")
    granted = two.answer("acquire")
    assert granted["granted"]
    assert int(granted["czxid"]) > int(held["czxid"])
    two.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize("asker", [*OURS, "curator"])
@pytest.mark.parametrize("holder", ["rust-curator", "curator"])
def test_a_revocation_request_notifies_only_its_contender(
    start: Start, tree: Tree, path: str, holder: str, asker: str
) -> None:
    one, two = together(start, holder, asker)
    other = one.acquire(f"revocable {path}/other")
    held = one.acquire(f"revocable {path}/asked")
    two.ask(f"revoke {held['node']}")
    assert one.event("revoke")["path"] == f"{path}/asked"
    assert one.unread("revoke") == []
    for each in (held, other):
        one.ask(f"release {each['path']}")
    assert tree.contenders(path) == []


@pytest.mark.parametrize("asker", OURS)
def test_a_contender_that_has_gone_cannot_be_revoked(start: Start, path: str, asker: str) -> None:
    one, two = together(start, "curator", asker)
    held = one.acquire(f"revocable {path}")
    one.ask("release")
    two.send(f"revoke {held['node']}")
    assert not two.answer("revoke")["ok"]
