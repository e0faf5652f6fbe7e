"""The common behaviour of kazoo's recipes and ours: every test runs with both, on one server."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.exceptions import CancelledError, ConnectionClosedError, LockTimeout, NoAuthError
from kazoo.security import make_acl
from kazoo_support import KINDS, Kazoos, Worker, queued
from support import LONG, ZooKeeperBackend, wait_until


@pytest.fixture
def kazoos(zookeeper: ZooKeeperBackend) -> Iterator[Kazoos]:
    """Clients."""
    kazoos = Kazoos(zookeeper)
    yield kazoos
    kazoos.close()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of recipes: kazoo's or ours."""
    return str(request.param)


@pytest.fixture
def pair(kazoos: Kazoos, kind: str) -> tuple[Any, Any]:
    """Two clients."""
    return kazoos.client(kind), kazoos.client(kind)


LOCKS = ["Lock", "WriteLock", "ReadLock"]


@pytest.mark.parametrize("name", LOCKS)
def test_acquire_and_release(pair: tuple[Any, Any], name: str) -> None:
    lock = getattr(pair[0], name)("/l", "me")
    assert (lock.is_acquired, lock.node, lock.cancelled, lock.create_tried) == (False, None, False, False)
    assert lock.release() is False
    for _ in range(2):
        assert lock.acquire() is True
        assert (lock.is_acquired, lock.create_tried, lock.assured_path) == (True, True, True)
        assert lock.release() is True
        assert (lock.is_acquired, lock.node) == (False, None)
        assert lock.release() is False
    assert lock.acquire(timeout=LONG) is True
    assert lock.release() is True
    with lock as nothing:
        assert nothing is None
        assert lock.is_acquired is True
    assert lock.is_acquired is False
    with pytest.raises(ZeroDivisionError), lock:
        _ = 1 // 0
    assert lock.acquire(blocking=False) is True
    lock.release()


@pytest.mark.parametrize("name", LOCKS)
def test_names_and_data(kazoos: Kazoos, pair: tuple[Any, Any], name: str) -> None:
    mark = "__rlock__" if name == "ReadLock" else "__lock__"
    client = pair[0]
    lock = getattr(client, name)("/l", "till-7")
    assert (lock.client, lock.path, lock.data) == (client, "/l", b"till-7")
    assert re.fullmatch(f"[0-9a-f]{{32}}{mark}", lock.prefix)
    lock.acquire()
    (child,) = kazoos.children("/l")
    assert lock.node == child == f"{lock.prefix}0000000000"
    assert re.fullmatch(rf"[0-9a-f]{{32}}{mark}0000000000", child)
    assert lock.create_path == f"/l/{lock.prefix}"
    data, stat = client.get(f"/l/{child}")
    assert data == b"till-7"
    assert stat.ephemeralOwner == client.client_id[0]
    lock.release()
    nameless = getattr(client, name)("/l")
    nameless.acquire()
    assert nameless.data == client.get(f"/l/{nameless.node}")[0] == b""
    assert nameless.contenders() == [""]
    nameless.release()
    assert getattr(client, name)("/l", 7).data == b"7"


def test_a_held_lock(pair: tuple[Any, Any]) -> None:
    ours, theirs = (client.Lock("/l") for client in pair)
    ours.acquire()
    assert theirs.acquire(blocking=False) is False
    start = time.monotonic()
    with pytest.raises(LockTimeout, match="/l"):
        theirs.acquire(timeout=0.2)
    assert 0.19 <= time.monotonic() - start < LONG
    with pytest.raises(LockTimeout):
        theirs.acquire(timeout=0)
    assert (theirs.is_acquired, theirs.release()) == (False, False)
    assert theirs.contenders() == [""]
    with pytest.raises(ValueError, match="timeout"):
        theirs.acquire(blocking=False, timeout=1)
    with pytest.raises(ValueError, match="timeout"):
        theirs.acquire(timeout=-2)
    ours.release()
    assert theirs.acquire(timeout=LONG) is True
    theirs.release()


def test_an_object_that_holds_already(pair: tuple[Any, Any]) -> None:
    lock = pair[0].Lock("/l")
    lock.acquire()
    assert lock.acquire(blocking=False) is False
    assert lock.acquire(timeout=0.1) is False
    assert lock.is_acquired is True
    worker = Worker(lock)
    lock.release()
    assert worker.acquired.wait(LONG)
    assert worker.result is True
    worker.finish()


def test_the_line(kazoos: Kazoos, pair: tuple[Any, Any]) -> None:
    first = pair[0].Lock("/l", "first")
    assert first.contenders() == []
    first.acquire()
    locks = [pair[number % 2].Lock("/l", f"n{number}") for number in range(3)]
    with (
        queued(kazoos, "/l", locks[0]) as one,
        queued(kazoos, "/l", locks[1]) as two,
        queued(kazoos, "/l", locks[2]) as three,
    ):
        assert locks[0].contenders() == ["first", "n0", "n1", "n2"]
        # kazoo sets its node when it has read the reply. The server's list may have the node earlier.
        wait_until(lambda: locks[2].node == kazoos.children("/l")[3], "the third has its node")
        first.release()
        for number, worker in enumerate((one, two, three)):
            assert worker.acquired.wait(LONG)
            assert first.contenders() == [f"n{each}" for each in range(number, 3)]
            worker.finish()
    assert first.contenders() == []


def test_cancel(kazoos: Kazoos, pair: tuple[Any, Any]) -> None:
    ours, theirs = (client.Lock("/l", "x") for client in pair)
    ours.acquire()
    with queued(kazoos, "/l", theirs) as worker:
        theirs.cancel()
        worker.thread.join(LONG)
        assert isinstance(worker.error, CancelledError)
    assert theirs.cancelled is False
    assert theirs.contenders() == ["x"]
    ours.release()
    assert theirs.acquire(timeout=LONG) is True
    theirs.release()


def test_readers_and_writers(kazoos: Kazoos, pair: tuple[Any, Any]) -> None:
    one, other = pair
    reader, second = one.ReadLock("/l", "r1"), other.ReadLock("/l", "r2")
    writer = other.WriteLock("/l", "w")
    assert reader.acquire() is True
    assert second.acquire(timeout=LONG) is True
    assert writer.acquire(blocking=False) is False
    second.release()
    with queued(kazoos, "/l", writer) as worker:
        assert second.acquire(blocking=False) is False
        assert one.ReadLock("/l").contenders() == ["r1", "w"]
        assert writer.contenders() == ["r1", "w"]
        reader.release()
        assert worker.acquired.wait(LONG)
        with pytest.raises(LockTimeout):
            reader.acquire(timeout=0.1)
    with second, reader:
        pass


def test_an_election(kazoos: Kazoos, pair: tuple[Any, Any]) -> None:
    one, other = (client.Election("/e", name) for client, name in zip(pair, ("one", "other"), strict=True))
    led: list[Any] = []

    def lead(*arguments: Any, **named: Any) -> str:
        led.append((one.contenders(), arguments, named))
        return "nothing is done with it"

    assert one.run(lead, 1, two=2) is None
    assert led == [(["one"], (1,), {"two": 2})]
    with pytest.raises(ValueError, match="callable"):
        one.run(None)
    with pytest.raises(KeyError):
        one.run({}.__getitem__, "missing")
    one.lock.acquire()
    cancelled = other.lock
    with queued(kazoos, "/e", cancelled) as worker:
        assert one.contenders() == ["one", "other"]
        other.cancel()
        worker.thread.join(LONG)
        assert isinstance(worker.error, CancelledError)
    one.lock.release()
    assert kazoos.children("/e") == []


def test_a_semaphore(kazoos: Kazoos, pair: tuple[Any, Any]) -> None:
    one, other, third = (pair[n % 2].Semaphore("/s", f"s{n}", max_leases=2) for n in range(3))
    assert one.lease_holders() == []
    assert (one.acquire(), other.acquire(timeout=LONG), third.acquire(blocking=False)) == (True, True, False)
    assert one.acquire() is True  # True: it already has a lease, as in kazoo.
    assert (one.is_acquired, third.is_acquired) == (True, False)
    assert sorted(third.lease_holders()) == ["s0", "s1"]
    assert len(kazoos.children("/s")) == 2
    assert pair[0].get("/s")[0] == b"2"
    assert kazoos.children("/s-__lock__") == []
    with pytest.raises(LockTimeout):
        third.acquire(timeout=0.1)
    assert (third.release(), one.release(), one.release()) == (False, True, False)
    assert third.acquire(timeout=LONG) is True
    for semaphore in (other, third):
        assert semaphore.release() is True
    with pair[0].Semaphore("/t") as nothing:
        assert nothing is None
        assert len(kazoos.children("/t")) == 1
    with pytest.raises(ValueError, match=r"."):
        pair[1].Semaphore("/s", max_leases=3).acquire()


def test_a_semaphore_is_cancelled(kazoos: Kazoos, pair: tuple[Any, Any]) -> None:
    one, other = (client.Semaphore("/s", "x") for client in pair)
    one.acquire()
    other.cancel()
    assert other.cancelled is True
    worker = Worker(other)
    wait_until(lambda: kazoos.observer.exists(f"/{kazoos.backend.prefix}/s-__lock__"), "it has begun")
    wait_until(lambda: kazoos.children("/s-__lock__") != [], "it waits")
    other.cancel()
    worker.finish()
    assert isinstance(worker.error, CancelledError)
    wait_until(lambda: kazoos.children("/s-__lock__") == [], "nothing is left")
    one.release()
    assert other.acquire(timeout=LONG) is True
    other.release()


@pytest.mark.parametrize("name", [*LOCKS, "Semaphore"])
def test_no_permission(kazoos: Kazoos, pair: tuple[Any, Any], name: str) -> None:
    acl = [make_acl("world", "anyone", read=True)]
    for path in ("/l", "/l-__lock__"):
        kazoos.observer.create(f"/{kazoos.backend.prefix}{path}", acl=acl)
    recipe = getattr(pair[0], name)("/l")
    for how in ({}, {"blocking": False}):
        with pytest.raises(NoAuthError):
            recipe.acquire(**how)
    assert recipe.is_acquired is False


def test_a_client_that_is_stopped(kazoos: Kazoos, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    client = kazoos.client(kind)
    with client.Lock("/l"):
        pass
    held = client.Lock("/l")
    held.acquire()
    client.stop()
    if kind == "ours":
        assert held.lost.wait(LONG)
        assert (held.is_acquired, held.release()) == (False, False)
        assert "lost after" not in caplog.text
    with pytest.raises(ConnectionClosedError):
        client.Lock("/l").acquire()
    client.start()
    with client.Lock("/l"):
        assert client.get_children("/l") != []


@pytest.mark.parametrize(
    ("name", "others"),
    [("Lock", "Lock"), ("WriteLock", "WriteLock"), ("Lock", "WriteLock"), ("ReadLock", "WriteLock")],
)
def test_kazoo_and_we_exclude_each_other(kazoos: Kazoos, name: str, others: str) -> None:
    theirs, ours = (kazoos.client(kind) for kind in KINDS)
    for first, second in ((theirs, ours), (ours, theirs)):
        for name_one, name_other in ((name, others), (others, name)):
            one, other = getattr(first, name_one)("/l", "one"), getattr(second, name_other)("/l", "other")
            one.acquire()
            assert other.acquire(blocking=False) is False
            wait_until(lambda: len(kazoos.children("/l")) == 1, "its node is gone")
            with queued(kazoos, "/l", other) as worker:
                assert one.contenders()[:1] == other.contenders()[:1] == ["one"]
                assert not worker.acquired.is_set()
                one.release()
                assert worker.acquired.wait(LONG)
                assert one.acquire(blocking=False) is False


def test_kazoo_and_we_read_together(kazoos: Kazoos) -> None:
    theirs, ours = (kazoos.client(kind).ReadLock("/l") for kind in KINDS)
    with theirs:
        assert ours.acquire(timeout=LONG) is True
        ours.release()
    with ours:
        assert theirs.acquire(timeout=LONG) is True
        theirs.release()


def test_kazoo_and_we_share_a_semaphore(kazoos: Kazoos) -> None:
    semaphores = [kazoos.client(kind).Semaphore("/s", kind, max_leases=2) for kind in (*KINDS, *KINDS)]
    for first in range(4):
        held = [semaphores[first], semaphores[(first + 1) % 4]]
        late = [semaphores[(first + 2) % 4], semaphores[(first + 3) % 4]]
        for semaphore in held:
            assert semaphore.acquire(timeout=LONG) is True
        for semaphore in late:
            assert semaphore.acquire(blocking=False) is False
            assert sorted(semaphore.lease_holders()) == ["kazoo", "ours"]
        workers = [Worker(semaphore) for semaphore in late]
        for semaphore in held:
            semaphore.release()
        for worker in workers:
            assert worker.acquired.wait(LONG)
            worker.finish()


def test_kazoo_and_we_lose_no_increment(kazoos: Kazoos) -> None:
    import threading

    locks = [kazoos.client(kind).Lock("/l", kind) for kind in (*KINDS, *KINDS)]
    count = 0

    def work(lock: Any) -> None:
        nonlocal count
        for _ in range(15):
            with lock:
                seen = count
                time.sleep(0)
                count = seen + 1

    threads = [threading.Thread(target=work, args=(lock,)) for lock in locks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert count == 60


@pytest.mark.parametrize("path", ["l/m", "/l/m", "//l/m", "/l//m"])
@pytest.mark.parametrize("name", [*LOCKS, "Semaphore"])
def test_a_path_is_what_kazoo_makes_of_it(
    pair: tuple[Any, Any], kazoos: Kazoos, name: str, path: str
) -> None:
    client, other = pair
    lock = getattr(client, name)(path)
    assert lock.path == path
    with lock:
        assert len(kazoos.children("/l/m")) == 1
        opposite = "WriteLock" if name == "ReadLock" else name
        assert getattr(other, opposite)("/l/m").acquire(blocking=False) is False


@pytest.mark.parametrize("path", ["/l/../m", "./l"])
def test_a_path_that_is_relative(pair: tuple[Any, Any], path: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        pair[0].Lock(path).acquire(timeout=LONG)
