"""Servers without containers (3.4), and also without multi (3.3): a lock works, or fails at once.

These servers are obsolete. They also lack features that client libraries need. The libraries of Rust and C
request the stat of a node with every create, which needs 3.5. Such a server replies out of order to unknown
requests, and kazoo's connection thread then ends.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from elsewhere import Elsewhere
from refusals import KINDS, OURS, directories, refused, started, wanted

#: The clients that work there if the directories exist.
WORKING = [(f"python-{layout}", kind) for layout in ("curator", "kazoo") for kind in KINDS]
REFUSALS = (
    "lacks a feature",
    "answered with an error",
    "cannot be created",
    "the connection has been closed",
)
#: The error of a server that closes the connection at an unknown request.
UNREACHABLE = ("no server answered", "no server has answered", "the connection has been closed")


def old(version: str) -> Iterator[Elsewhere]:
    server = Elsewhere(version)
    yield server
    server.close()


@pytest.fixture(scope="module")
def without_containers() -> Iterator[Elsewhere]:
    yield from old("3.4")


@pytest.fixture(scope="module")
def without_multi() -> Iterator[Elsewhere]:
    yield from old("3.3")


@pytest.fixture
def place() -> str:
    """A path that no other test uses, below directories that do not exist yet."""
    return f"/old-{uuid.uuid4().hex[:8]}/a/b"


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_containers_it_works_or_is_refused(
    without_containers: Elsewhere, place: str, name: str, kind: str
) -> None:
    peer = started(without_containers.start, name)
    peer.send(f"acquire {wanted(kind, place)}")
    answer = peer.answer("acquire")
    if answer["ok"]:
        assert answer["granted"]
        assert without_containers.tree.contenders(place)
        peer.ask("release")
    else:
        assert any(words in answer["error"] for words in REFUSALS), answer
    without_containers.end_peers()
    without_containers.tree.wait_for_none(place)


@pytest.mark.parametrize(("name", "kind"), WORKING)
def test_without_containers_contenders_take_turns(
    without_containers: Elsewhere, place: str, name: str, kind: str
) -> None:
    tree = without_containers.tree
    for directory in directories(kind, place) if name == "python-curator" else [place, f"{place}-__lock__"]:
        tree.client.ensure_path(directory)
    if kind == "multi":
        for below in ("a", "b"):
            tree.client.ensure_path(f"{place}/{below}")
    one, other = (started(without_containers.start, name) for _ in range(2))
    line = wanted(kind.replace(":2", ":1"), place)
    held = one.acquire(line.replace("read", "write"))
    there = tree.contenders(place)
    other.send(f"acquire {line}")
    if kind != "single":  # the server does not show its waiters
        tree.wait_for_newcomer(place, there)
    assert other.unread() == []
    one.ask("release")
    granted = other.answer("acquire")
    assert granted["granted"]
    assert int(granted["czxid"]) > int(held["czxid"])
    other.ask("release")
    without_containers.end_peers()
    assert tree.contenders(place) == []


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", ["mutex", "multi"])
def test_without_multi_it_is_refused(without_multi: Elsewhere, place: str, name: str, kind: str) -> None:
    peer = started(without_multi.start, name)
    error = refused(peer, f"acquire {wanted(kind, place)} 1000")
    assert any(words in error for words in UNREACHABLE), error
    without_multi.end_peers()
    without_multi.tree.wait_for_none(place)
