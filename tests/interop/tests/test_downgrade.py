"""A writer of fencepost or Curator becomes a reader, while contenders of other libraries wait."""

from __future__ import annotations

import pytest
from company import has_got, together, waits
from conftest import Start
from steer import Answer, Peer, wait_until
from tree import Tree

pytestmark = pytest.mark.every_version

LANGUAGES = ("rust", "python", "javascript", "c")
#: The marker in the name of a reader's node.
MARKS = {"curator": "__READ__", "kazoo": "__rlock__"}


def as_reader(tree: Tree, writer: Answer, mark: str) -> str:
    """The reader's node that replaces a writer's: it has the writer's place in the wait queue."""
    nodes = tree.contenders(writer["path"])
    assert writer["node"] not in nodes
    [reader] = [node for node in nodes if node[-10:] == writer["node"][-10:]]
    assert mark in reader
    return reader


def wait_for_a_watch(tree: Tree, node: str, unless: Peer | None = None) -> None:
    """Waits until another session watches this node, or until this peer no longer waits."""
    owner = tree.client.exists(node).ephemeralOwner
    wait_until(
        lambda: tree.watchers(node) - {owner} or (unless and not waits(unless)), f"{node} is waited for"
    )


@pytest.mark.parametrize("theirs", MARKS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_their_readers_share_with_our_writer_that_goes_on_as_a_reader_and_their_writers_wait(
    start: Start, tree: Tree, path: str, theirs: str, language: str
) -> None:
    ours, reader, writer = together(start, f"{language}-{theirs}", theirs, theirs)
    held = ours.acquire(f"write {path}")
    tree.see_join(path, reader, f"read {path}")
    tree.see_join(path, writer, f"write {path}")
    ours.ask("downgrade")
    has_got(reader, int(held["czxid"]))
    reader.ask("release")
    wait_for_a_watch(tree, as_reader(tree, held, MARKS[theirs]))
    assert waits(writer)
    ours.ask("release")
    fence = has_got(writer, int(held["czxid"]))
    assert not ours.ask(f"acquire read {path} 0")["granted"]
    writer.ask("release")
    # The waiter directly behind our contender gets the event of the writer's deleted node.
    held = ours.acquire(f"write {path}")
    assert int(held["czxid"]) > fence
    tree.see_join(path, writer, f"write {path}")
    wait_for_a_watch(tree, held["node"])
    ours.ask("downgrade")
    wait_for_a_watch(tree, as_reader(tree, held, MARKS[theirs]))
    assert waits(writer)
    assert not ours.unread("lost")
    ours.ask("release")
    has_got(writer, int(held["czxid"]))
    writer.ask("release")
    assert tree.contenders(path) == []


@pytest.mark.parametrize("writes", LANGUAGES)
@pytest.mark.parametrize("kind", ["mutex", "leader", "multi"])
def test_in_kazoos_layout_other_kinds_wait_for_a_writer_that_goes_on_as_a_reader(
    start: Start, tree: Tree, path: str, writes: str, kind: str
) -> None:
    """Each waiter is alone behind the writer, whose node is deleted."""
    writer, *waiters = together(start, f"{writes}-kazoo", *(f"{waits}-kazoo" for waits in LANGUAGES))
    # A path for each waiter.
    waiting = {f"{path}-{place}": waiter for place, waiter in zip(LANGUAGES, waiters, strict=True)}
    held = {}
    for place, waiter in waiting.items():
        held[place] = writer.acquire(f"write {place}")
        tree.see_join(place, waiter, f"{kind} {place}{f',{place}-too' if kind == 'multi' else ''}")
        wait_for_a_watch(tree, held[place]["node"])
        writer.ask(f"downgrade {place}")
    for place, waiter in waiting.items():
        wait_for_a_watch(tree, as_reader(tree, held[place], MARKS["kazoo"]), unless=waiter)
        assert waits(waiter), f"{waiter.name} was granted beside a reader"
        writer.ask(f"release {place}")
        has_got(waiter, int(held[place]["czxid"]))
        waiter.ask("release")
        assert tree.contenders(place) == []


def test_our_writer_waits_for_a_curator_writer_that_goes_on_as_a_reader(
    start: Start, tree: Tree, path: str
) -> None:
    theirs, ours = together(start, "curator", "rust-curator")
    writer = theirs.acquire(f"write {path}")
    tree.see_join(path, ours, f"write {path} 1500")
    reader = theirs.acquire(f"read {path}")
    theirs.ask(f"release {writer['node']}")
    # The reader has the writer's number, and is still before our waiter, whose predecessor no longer exists.
    assert ours.answer("acquire") == {"answer": "acquire", "ok": True, "granted": False, "cancelled": False}
    tree.see_join(path, ours, f"write {path}")
    theirs.ask(f"release {reader['node']}")
    has_got(ours, int(reader["czxid"]))
    ours.ask("release")
    assert tree.contenders(path) == []


def test_our_reader_shares_with_a_curator_writer_that_goes_on_as_a_reader(
    start: Start, tree: Tree, path: str
) -> None:
    theirs, ours = together(start, "curator", "rust-curator")
    writer = theirs.acquire(f"write {path}")
    tree.see_join(path, ours, f"read {path}")
    reader = theirs.acquire(f"read {path}")
    theirs.ask(f"release {writer['node']}")
    has_got(ours, int(writer["czxid"]))
    assert reader["node"] in tree.contenders(path)
    for peer in (theirs, ours):
        peer.ask("release")
    assert tree.contenders(path) == []
