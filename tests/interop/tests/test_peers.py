"""The peers themselves: two peers of the same kind exclude each other, and run their commands.

Only the full product runs these tests: `tests/conformance` tests fencepost's clients, and the other clients
change only with their version.
"""

from __future__ import annotations

import pytest
from conftest import Start
from counter import CounterServer
from steer import Peer, Servers, wait_until

pytestmark = pytest.mark.full_product

OURS = ("rust", "python", "javascript", "c")
PEERS = ("curator", "kazoo", *(f"{ours}-{layout}" for ours in OURS for layout in ("curator", "kazoo")))
EXCLUSIVE = (
    *(
        (peer, kind)
        for peer in (*PEERS, "python-threads")
        for kind in ("mutex", "write", "semaphore:1", "leader")
    ),
    ("curator", "revocable"),
    ("curator", "multi"),
    ("rust-curator", "multi"),
    ("rust-kazoo", "multi"),
)


def pair(start: Start, name: str) -> tuple[Peer, Peer]:
    """Two peers of the same kind, which start at the same time."""
    peers = start(name), start(name)
    for peer in peers:
        assert peer.answer("ready")["peer"] == name
    return peers


@pytest.mark.parametrize(("name", "kind"), EXCLUSIVE)
def test_two_of_a_kind_exclude_each_other(start: Start, path: str, name: str, kind: str) -> None:
    where = f"{path}/a,{path}/b" if kind == "multi" else path
    one, two = pair(start, name)
    first = one.acquire(f"{kind} {where}")
    assert first["node"].startswith(path)
    for timeout in (0, 1000):
        refused = two.ask(f"acquire {kind} {where} {timeout}")
        assert (refused["granted"], refused["cancelled"]) == (False, False)
    two.send(f"acquire {kind} {where}")
    assert one.ask("release")["node"] == first["node"]
    second = two.answer("acquire")
    assert second["granted"]
    assert int(second["czxid"]) > int(first["czxid"])
    two.ask(f"release {where}")
    # A latch and an election join the queue in the background: with a timeout of 0 they never win.
    one.acquire(f"{kind} {where} {5000 if kind == 'leader' else 0}")


@pytest.mark.parametrize("name", PEERS)
def test_readers_share_and_writers_do_not(start: Start, path: str, name: str) -> None:
    one, two = pair(start, name)
    one.acquire(f"read {path}")
    two.acquire(f"read {path} 0")
    two.ask("release")
    assert not two.ask(f"acquire write {path} 0")["granted"]
    two.send(f"acquire write {path}")
    # Curator counts contenders of the same kind, kazoo all that the writer would wait for.
    waiting = 1 if name.endswith("curator") else 2
    wait_until(lambda: len(one.ask(f"contenders write {path}")["nodes"]) == waiting, "the writer waits")
    one.ask("release")
    assert two.answer("acquire")["granted"]
    assert not one.ask(f"acquire read {path} 0")["granted"]


@pytest.mark.parametrize("name", PEERS)
def test_a_semaphore_has_as_many_permits_as_it_says(start: Start, path: str, name: str) -> None:
    one, two = pair(start, name)
    held = {peer.acquire(f"semaphore:2 {path} 5000")["node"] for peer in (one, two)}
    assert len(held) == 2
    assert not two.ask(f"acquire semaphore:2 {path} 0")["granted"]
    one.ask("release")
    two.acquire(f"semaphore:2 {path} 5000")


@pytest.mark.parametrize(("name", "kind"), [entry for entry in EXCLUSIVE if entry[1] != "multi"])
def test_an_expired_session_passes_the_lock_on(
    servers: Servers, start: Start, path: str, name: str, kind: str
) -> None:
    one, two = pair(start, name)
    first = one.acquire(f"{kind} {path}")
    two.send(f"acquire {kind} {path}")
    servers.expire(one)
    second = two.answer("acquire")
    assert second["granted"]
    assert int(second["czxid"]) > int(first["czxid"])
    one.event("state", state="lost")
    if (name, kind) == ("curator", "leader"):
        one.event("not-leader", path=path)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("kind", ["mutex", "leader", "semaphore:1"])
def test_a_wait_can_be_cancelled(start: Start, path: str, name: str, kind: str) -> None:
    one, two = pair(start, name)
    one.acquire(f"{kind} {path}")
    two.send(f"acquire {kind} {path}")
    wait_until(lambda: not two.ask("cancel")["cancelled"], "nothing is left to cancel")
    assert two.answer("acquire") == {"answer": "acquire", "ok": True, "granted": False, "cancelled": True}
    one.ask("release")
    one.acquire(f"{kind} {path} 5000")


def test_curator_holders_can_be_asked_to_let_go(start: Start, path: str) -> None:
    one, two = pair(start, "curator")
    held = one.acquire(f"revocable {path}")
    two.ask(f"revoke {held['node']}")
    assert one.event("revoke")["path"] == path


def test_a_curator_writer_may_go_on_as_a_reader(start: Start, path: str) -> None:
    one, two = pair(start, "curator")
    writer = one.acquire(f"write {path}/rw")
    reader = one.acquire(f"read {path}/rw")
    assert reader["node"].rpartition("__")[2] == writer["node"].rpartition("__")[2]
    two.send(f"acquire write {path}/rw")
    wait_until(lambda: len(one.ask(f"contenders write {path}/rw")["nodes"]) == 2, "the other writer waits")
    one.ask(f"release {writer['node']}")
    assert one.ask(f"contenders read {path}/rw")["nodes"] == [reader["node"]]
    one.ask(f"release {reader['node']}")
    assert int(two.answer("acquire")["czxid"]) > int(reader["czxid"])


@pytest.mark.parametrize("name", [*PEERS, "python-threads"])
@pytest.mark.parametrize("kind", ["mutex", "write", "semaphore:1", "leader"])
def test_not_one_increment_is_lost(start: Start, path: str, name: str, kind: str) -> None:
    one, two = pair(start, name)
    rounds = 15
    with CounterServer() as server:
        for peer in (one, two):
            peer.send(f"work {kind} {path} 127.0.0.1:{server.port} {rounds}")
        for peer in (one, two):
            answer = peer.answer("work")
            assert answer["ok"], answer
            assert (answer["done"], answer["stale"]) == (rounds, 0)
        one.acquire(f"{kind} {path}")
        assert one.ask(f"increment 127.0.0.1:{server.port}")["accepted"]
        counter = server.counter
        assert (counter.value, counter.lost_updates, counter.stale) == (2 * rounds + 1, 0, 0)
        assert counter.fences == sorted(counter.fences)


@pytest.mark.parametrize("name", PEERS)
def test_mistakes_are_answered(start: Start, path: str, name: str) -> None:
    peer = start(name)
    for line, complaint in (
        (f"acquire sieve {path}", "has no sieve"),
        ("release", "nothing is held"),
        ("jump", "no such command"),
    ):
        peer.send(line)
        answer = peer.answer(line.split()[0])
        assert not answer["ok"]
        assert complaint in answer["error"]


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("last", ["quit", None])
def test_its_end_leaves_nothing(start: Start, path: str, name: str, last: str | None) -> None:
    one, two = pair(start, name)
    one.acquire(f"mutex {path}")
    two.send(f"acquire mutex {path}")
    wait_until(lambda: len(one.ask(f"contenders mutex {path}")["nodes"]) == 2, "the other waits")
    if last:
        two.send(last)
    two.close()
    assert two.process.returncode == 0
    assert len(one.ask(f"contenders mutex {path}")["nodes"]) == 1
