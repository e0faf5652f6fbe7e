"""Owners that acquire a lock which they already hold."""

from __future__ import annotations

import gc
import threading
from typing import Any

import fencepost
import pytest
from conftest import Connect
from support import (
    BRIEF,
    LONG,
    Backend,
    Control,
    Interrupted,
    ZooKeeperBackend,
    options,
    wait_until,
    with_session,
)
from test_kinds import Pair, pair, place, take

__all__ = ["pair", "place"]


@pytest.fixture
def clients(backend: Backend, connect: Connect) -> Pair:
    """Two clients of any server."""
    return connect(backend.url), connect(backend.url)


def is_free(lock: fencepost.Lock) -> bool:
    """Whether no client holds the lock."""
    grant = lock.acquire(blocking=False)
    if grant is not None:
        grant.release()
    return grant is not None


def test_an_owner_enters_again(backend: Backend, clients: Pair) -> None:
    name = backend.name()
    mine, too = (clients[0].lock(name, owner="request-17") for _ in range(2))
    theirs = clients[1].lock(name)
    outer = take(mine)
    entered: list[fencepost.Grant | None] = []
    thread = threading.Thread(target=lambda: entered.append(too.acquire(blocking=False)))
    thread.start()
    thread.join(LONG)
    (inner,) = entered
    assert inner is not None
    with mine as innermost:
        assert outer.fence == inner.fence == innermost.fence
        assert outer.is_valid
        assert inner.is_valid
        inner.extend()
        if backend.kind != "memory":
            assert backend.contenders(name) == 1
    # The first hold need not be the last to end.
    outer.release()
    assert not outer.is_valid
    assert outer.remaining() == 0.0
    assert "released" in repr(outer)
    assert not is_free(theirs)
    waiting: list[fencepost.Grant] = []
    thread = threading.Thread(target=lambda: waiting.append(take(theirs)))
    thread.start()
    assert inner.is_valid
    inner.release()
    thread.join(LONG)
    (foreign,) = waiting
    assert foreign.fence is not None
    assert inner.fence is not None
    assert foreign.fence > inner.fence
    assert not is_free(mine)
    foreign.release()
    with mine as again, too:
        assert again.fence is not None
        assert again.fence > foreign.fence


def test_a_grant_is_released_once(backend: Backend, clients: Pair) -> None:
    name = backend.name()
    mine = clients[0].lock(name, owner="request-17")
    outer, inner = take(mine), take(mine)
    inner.release()
    for call in (inner.release, inner.extend):
        with pytest.raises(fencepost.MisuseError) as error:
            call()
        assert (error.value.code, error.value.name) == (205, "not-held")
    assert outer.is_valid
    assert not is_free(clients[1].lock(name))
    with outer:
        pass
    with pytest.raises(fencepost.MisuseError):
        outer.release()
    with inner:  # The grant was released before, so the end of its block does nothing.
        pass
    assert is_free(clients[1].lock(name))


def test_the_last_grant_dropped_gives_the_lock_back(backend: Backend, clients: Pair) -> None:
    mine = clients[0].lock(backend.name(), owner="request-17")
    theirs = clients[1].lock(backend.name())
    grants = [take(mine), take(mine), take(mine)]
    grants.pop()
    gc.collect()
    assert not is_free(theirs)
    grants.clear()
    gc.collect()
    take(theirs).release()


def test_an_owner_that_waits_is_busy(backend: Backend, clients: Pair) -> None:
    mine = clients[0].lock(backend.name(), owner="request-17")
    theirs = take(clients[1].lock(backend.name()))
    got: list[fencepost.Grant] = []
    thread = threading.Thread(target=lambda: got.append(take(mine)))
    thread.start()
    wait_until(lambda: clients[0]._engine.hub.pending, "it waits")
    for how in ({}, {"timeout": 1}, {"blocking": False}):
        arguments: dict[str, Any] = how
        with pytest.raises(fencepost.MisuseError) as error:
            mine.acquire(**arguments)
        assert (error.value.code, error.value.name) == (204, "busy")
        assert str(error.value).startswith(f"{mine.name}: ")
    theirs.release()
    thread.join(LONG)
    with mine:
        got.pop().release()
        assert not is_free(clients[1].lock(backend.name()))
    # After an acquire has given up, the owner can acquire again.
    with clients[1].lock(backend.name()):
        assert mine.acquire(timeout=BRIEF) is None
        assert mine.acquire(blocking=False) is None
        with pytest.raises(fencepost.ConfigError):
            mine.acquire(timeout=0)
        assert mine.acquire(timeout=BRIEF) is None
    with mine, pytest.raises(fencepost.ConfigError) as refused:
        mine.acquire(timeout=-1)
    assert refused.value.name == "not-positive"
    assert is_free(clients[1].lock(backend.name()))


def test_an_interrupted_first_acquire_makes_room(
    backend: Backend, clients: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = clients[0].lock(backend.name(), owner="request-17")
    wait = type(clients[0])._wait
    with clients[1].lock(backend.name()):

        def interrupted(*arguments: Any) -> bool:
            raise KeyboardInterrupt

        monkeypatch.setattr(type(clients[0]), "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mine.acquire()
        monkeypatch.setattr(type(clients[0]), "_wait", wait)
        assert not is_free(mine)
    # The acquire is interrupted when it is granted, and another thread of the owner has already entered.
    entered: list[fencepost.Grant | None] = []

    def entered_meanwhile(client: fencepost.Client, contender: Any, *arguments: Any) -> bool:
        wait(client, contender, *arguments)
        monkeypatch.setattr(type(clients[0]), "_wait", wait)
        entered.append(mine.acquire(blocking=False))
        raise KeyboardInterrupt

    monkeypatch.setattr(type(clients[0]), "_wait", entered_meanwhile)
    with pytest.raises(KeyboardInterrupt):
        mine.acquire()
    grant = entered.pop()
    assert grant is not None
    assert grant.is_valid
    assert not is_free(clients[1].lock(backend.name()))
    grant.release()
    assert is_free(clients[1].lock(backend.name()))


@pytest.mark.parametrize("after", range(1, 60, 4))
def test_an_interrupt_anywhere_leaves_no_hold(backend: Backend, clients: Pair, after: int) -> None:
    mine = clients[0].lock(backend.name(), owner="request-17")
    outer = take(mine)
    with Interrupted(after), mine.hold():
        pass
    assert outer.is_valid
    gc.collect()
    outer.release()
    with clients[1].lock(backend.name()).hold(timeout=10):
        pass


def test_a_loss_notifies_all_tasks(backend: Backend, clients: Pair) -> None:
    name = backend.name()
    mine = clients[0].lock(name, owner="request-17", max_hold=2)
    too = clients[0].lock(name, owner="request-17")
    outer, inner, done = take(mine), take(too), take(too)
    events = outer.lost, inner.lost, done.lost
    done.release()
    assert events[0].wait(LONG)
    assert events[1].wait(LONG)
    assert not events[2].is_set()
    assert not done.lost.is_set()
    assert not outer.is_valid
    assert not clients[0]._engine._contenders
    # An owner does not hold a lost grant: it contends again, while its old grants still exist.
    with clients[1].lock(name):
        assert too.acquire(blocking=False) is None
    again, more = take(too), take(too)
    assert again.fence is not None
    assert outer.fence is not None
    assert again.fence > outer.fence
    for old in (outer, inner):
        with pytest.raises(fencepost.LockLost) as error:
            old.release()
        assert error.value.name == "max-hold"
    del outer, inner, old
    gc.collect()
    again.release()
    assert more.is_valid
    assert not is_free(clients[1].lock(name))
    more.release()
    assert is_free(clients[1].lock(name))


def test_closing_releases_once(backend: Backend, clients: Pair) -> None:
    mine = clients[0].lock(backend.name(), owner="request-17")
    outer, inner = take(mine), take(mine)
    clients[0].close()
    with pytest.raises(fencepost.MisuseError) as error:
        mine.acquire()
    assert error.value.name == "client-closed"
    for call in (outer.release, inner.extend, inner.release):
        with pytest.raises(fencepost.LockLost) as lost:
            call()
        assert lost.value.name == "lost-connection-closed"
    take(clients[1].lock(backend.name())).release()


def test_threads_of_one_owner_lose_nothing(backend: Backend, clients: Pair) -> None:
    theirs = clients[1].lock(backend.name())
    written = [0]
    wrong: list[str] = []

    def work(number: int) -> None:
        mine = clients[0].lock(backend.name(), owner="request-17")
        turns = 0
        while turns < 10:
            if number == 0:
                with theirs.hold(timeout=LONG):
                    seen = written[0]
                    if seen != written[0]:
                        wrong.append("a foreign contender was not alone")
            else:
                try:
                    grant = take(mine)
                except fencepost.MisuseError:  # Another thread already waits for the owner.
                    continue
                if not grant.is_valid:
                    wrong.append("a grant of another's release")
                written[0] += 1
                grant.release()
            turns += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
    assert not wrong
    assert is_free(theirs)


def test_nothing_is_sent_to_enter_again(server: Backend, control: Control, connect: Connect) -> None:
    proxy = control.do(f"proxy {server.server}")
    url = with_session(server.at(proxy["address"]), 40000)
    lock = connect(url).lock(server.name(), owner="request-17", **options(server, 120))
    with lock:
        pass
    outer = take(lock)
    control.do(f"proxy-reset {proxy['id']}")
    for _ in range(10):
        with lock, lock.hold(timeout=1):
            lock.acquire(blocking=False)  # The grant is dropped.
    gc.collect()
    assert control.do(f"proxy-count {proxy['id']}")["total"] == 0
    outer.release()


def test_owners_have_names(backend: Backend, connect: Connect) -> None:
    client = connect(backend.url)
    anything: Any = 17
    for owner, name in (
        ("", "invalid-option"),
        ("o" * 1025, "invalid-option"),
        ("ö" * 513, "invalid-option"),
        ("\ud800", "invalid-option"),
        (anything, "unreadable-settings"),
    ):
        with pytest.raises(fencepost.ConfigError, match="owner") as error:
            client.lock("x", owner=owner)
        assert error.value.name == name
    with client.lock(backend.name(), owner="o" * 1024):
        pass
    assert not client._engine._contenders


def test_each_side_enters_itself(pair: Pair, place: Backend) -> None:
    mine = pair[0].read_write_lock("prices", owner="request-17")
    theirs = pair[1].read_write_lock("prices")
    for side in (mine.reader, mine.writer):
        outer, inner = take(side), take(side)
        assert outer.fence == inner.fence
        assert len(side.contenders()) == 1
        outer.release()
        assert not is_free(theirs.writer)
        inner.release()
        assert is_free(theirs.writer)


@pytest.mark.parametrize("dropped", [False, True])
def test_a_writer_reads_and_becomes_a_reader(pair: Pair, dropped: bool) -> None:
    mine = pair[0].read_write_lock("prices", owner="request-17")
    theirs = pair[1].read_write_lock("prices")
    writer, share, again = take(mine.writer), take(mine.reader), take(mine.writer)
    assert writer.fence == share.fence == again.fence
    (one,) = mine.reader.contenders()
    assert not one.shared
    got: list[fencepost.Grant] = []
    thread = threading.Thread(target=lambda: got.append(take(theirs.reader)))
    thread.start()
    writer.release()
    assert not is_free(theirs.reader)
    if dropped:
        del again
        gc.collect()
    else:
        again.release()
    thread.join(LONG)
    assert share.is_valid
    found = mine.reader.contenders()
    assert [(one.shared, one.holds) for one in found] == [(True, True)] * 2
    with pytest.raises(fencepost.MisuseError) as error:
        mine.writer.acquire()
    assert error.value.name == "upgrade"
    with mine.reader as more:
        assert more.fence == share.fence
        share.release()
        got.pop().release()
        assert not is_free(theirs.writer)
    assert is_free(theirs.writer)


def test_what_a_further_grant_watches_outlives_the_first(
    zookeeper: ZooKeeperBackend, connect: Connect
) -> None:
    # With this session, the client would notice without a watch only after the test.
    client = connect(with_session(zookeeper.url, 12 * 60_000))
    mine = client.lock("stock", owner="request-17", revocable=True)
    first, second = take(mine), take(mine)
    first.release()
    (found,) = mine.contenders()
    mine.revoke(found)
    assert second.wait_revoke_requested(LONG)
    third = take(mine)
    assert third.revoke_requested
    machine = first._contender.key
    second.release()
    assert client._engine.knows(machine)
    zookeeper.delete("stock")
    assert third.lost.wait(LONG)
    assert not client._engine.knows(machine)
