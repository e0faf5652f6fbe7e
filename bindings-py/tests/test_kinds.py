"""Read/write locks, semaphores, elections and layouts: the same for threads and for asyncio."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import fencepost
import pytest
from conftest import Connect, make
from kazoo.security import make_acl
from support import BRIEF, LONG, Backend, Program, ZooKeeperBackend, wait_until, with_session


@pytest.fixture(params=["memory", "zookeeper"])
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """A ZooKeeper: in memory, and a real one."""
    yield from make(request.param)


@pytest.fixture
def pair(place: Backend, connect: Connect) -> tuple[fencepost.Client, fencepost.Client]:
    """Two clients."""
    return connect(place.url), connect(place.url)


Pair = tuple[fencepost.Client, fencepost.Client]


def take(lock: fencepost.Lock) -> fencepost.Grant:
    """Acquires a lock that must be granted soon."""
    grant = lock.acquire(timeout=LONG)
    assert grant is not None
    return grant


@pytest.mark.parametrize("layout", ["curator", "kazoo"])
def test_readers_share_and_writers_do_not(pair: Pair, layout: fencepost.SharedLayout) -> None:
    ours, theirs = (client.read_write_lock("prices", layout=layout) for client in pair)
    one, other = take(ours.reader), take(theirs.reader)
    assert ours.writer.acquire(blocking=False) is None
    assert theirs.writer.acquire(timeout=BRIEF) is None
    one.release()
    other.release()
    with ours.writer as alone:
        assert theirs.reader.acquire(blocking=False) is None
        assert theirs.writer.acquire(timeout=BRIEF) is None
    with theirs.reader as reader:
        assert reader.fence is not None
        assert alone.fence is not None
        assert reader.fence > alone.fence


def test_elections_have_terms(pair: Pair) -> None:
    ours, theirs = (client.election("scheduler", identifier="me") for client in pair)
    term = ours.campaign()
    assert term is not None
    assert theirs.campaign(timeout=BRIEF) is None
    assert theirs.campaign(blocking=False) is None
    term.release()
    with theirs as second:
        assert second.fence is not None
        assert term.fence is not None
        assert second.fence > term.fence
    assert "Election 'scheduler'" in repr(ours)


@pytest.mark.parametrize("layout", ["curator", "kazoo"])
def test_many_locks_or_none(pair: Pair, layout: fencepost.SharedLayout) -> None:
    both = pair[0].multi_lock(["a", "b"], layout=layout)
    others = pair[1].multi_lock(iter(["b", "a"]), layout=layout)
    single = pair[1].lock("b", layout=layout)
    with both as grant:
        assert grant.fence is not None
        assert grant.is_valid
        assert single.acquire(blocking=False) is None
        assert others.acquire(timeout=BRIEF) is None
    with single:
        assert both.acquire(blocking=False) is None
        assert both.acquire(timeout=BRIEF) is None
        with pair[0].lock("a", layout=layout).hold(timeout=LONG):
            pass
    with others.hold(timeout=LONG) as second:
        assert second.fence is not None
        assert second.fence > grant.fence


def test_many_locks_in_any_order_do_not_deadlock(pair: Pair) -> None:
    orders = [["a", "b", "c"], ["c", "b", "a"], ["b", "c"], ["c", "a"]]
    held: dict[str, int] = dict.fromkeys("abc", 0)

    def work(client: fencepost.Client, names: list[str]) -> None:
        lock = client.multi_lock(names)
        for _ in range(10):
            with lock.hold(timeout=LONG):
                for name in names:
                    seen = held[name]
                    time.sleep(0)
                    held[name] = seen + 1

    threads = [
        threading.Thread(target=work, args=(pair[number % 2], names)) for number, names in enumerate(orders)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert held == {"a": 30, "b": 30, "c": 40}


def test_a_try_behind_a_waiter_that_is_stopped(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    """The try does not wait until the stopped waiter takes the free permits."""
    url = with_session(zookeeper.url, 60000)
    # With the defect, the try waited as long as one reply of the server may take.
    presses = connect(url).semaphore("presses", 3, answer_within=2 * LONG)
    grants = [take(presses) for _ in range(3)]
    program = Program("wait.py", url, "presses", "3")
    assert program.line() == "waiting"
    leases, line = (f"{zookeeper.directory('presses')}/{part}" for part in ("leases", "locks"))
    wait_until(lambda: zookeeper.client.get_children(line), "it waits")
    program.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, program.process.pid, os.WSTOPPED)
    for grant in grants:
        grant.release()
    wait_until(lambda: len(zookeeper.client.get_children(leases)) <= 1, "the permits are free")
    start = time.monotonic()
    assert presses.acquire(blocking=False) is None
    assert time.monotonic() - start < LONG
    program.kill()


def test_what_the_names_say(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    client = connect(zookeeper.url)
    plain: dict[str, Any] = {"layout": "plain", "node_prefix": "n-"}
    locks: dict[str, fencepost.Lock] = {
        "-lock-": client.lock("a", identifier="till-7"),
        "__lock__": client.lock("b", layout="kazoo", identifier="till-7"),
        "n-": client.lock("c", **plain, identifier="till-7"),
        "node_": client.lock("d", layout="plain", identifier="till-7"),
        "-latch-": client.election("e", identifier="till-7"),
        "__READ__": client.read_write_lock("f", identifier="till-7").reader,
        "__WRIT__": client.read_write_lock("g", identifier="till-7").writer,
        "__rlock__": client.read_write_lock("h", layout="kazoo", identifier="till-7").reader,
    }
    for mark, lock in locks.items():
        with lock:
            (child,) = zookeeper.children(lock.name)
            assert child.endswith(f"{mark}0000000000")
            data, _ = zookeeper.client.get(f"{zookeeper.directory(lock.name)}/{child}")
            assert data.decode().endswith("till-7")


def fail_to_enter(scope: fencepost.Scope) -> None:
    """Enters a block whose lock another contender holds."""
    with pytest.raises(fencepost.NotAcquired), scope:
        pass


def test_a_contender_of_another_layout_is_waited_for(pair: Pair) -> None:
    ours, theirs = pair[0].lock("stock"), pair[1].lock("stock", layout="kazoo")
    with ours:
        attempts: list[Callable[[], object]] = [
            lambda: theirs.acquire(timeout=BRIEF),
            lambda: fail_to_enter(theirs.hold(blocking=False)),
        ]
        for fails in attempts:
            with pytest.warns(fencepost.MixedLayoutsWarning, match="-lock-0000000000") as seen:
                assert fails() is None
            assert seen[0].filename == __file__
    foreign = take(theirs)
    assert foreign.mixed_layouts is None

    def release() -> None:
        # Its node may exist before its client has seen the other contender's node.
        wait_until(lambda: any(each.mixed_layouts for each in list(engine._contenders.values())), "it waits")
        foreign.release()

    engine = pair[0]._engine
    releaser = threading.Thread(target=release)
    releaser.start()
    with pytest.warns(fencepost.MixedLayoutsWarning, match="__lock__"):
        grant = take(ours)
    releaser.join()
    assert grant.mixed_layouts is not None
    assert "__lock__" in grant.mixed_layouts
    grant.release()


def test_a_warning_that_is_an_error_leaves_nothing(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    zookeeper.client.create(f"{zookeeper.directory('stock')}/abc__lock__0000000000", makepath=True)
    lock = connect(zookeeper.url).lock("stock")
    with pytest.raises(fencepost.MixedLayoutsWarning):
        lock.acquire(timeout=BRIEF)
    wait_until(lambda: zookeeper.contenders("stock") == 1, "ours is gone")


@pytest.mark.parametrize("revocable", [True, False])
def test_another_client_requests_the_lock(
    zookeeper: ZooKeeperBackend, connect: Connect, revocable: bool
) -> None:
    lock = connect(zookeeper.url).lock("stock", revocable=revocable)
    with lock as grant:
        assert not grant.revoke_requested
        assert not grant.wait_revoke_requested(timeout=0.01)
        (child,) = zookeeper.children("stock")
        zookeeper.client.set(f"{zookeeper.directory('stock')}/{child}", b"__REVOKE__")
        assert grant.wait_revoke_requested(timeout=LONG)
        assert grant.revoke_requested
        assert grant.is_valid
    assert grant.wait_revoke_requested()


def test_waiting_for_a_wish_ends_with_the_grant(pair: Pair) -> None:
    grant = take(pair[0].lock("stock"))
    waited: list[bool] = []
    thread = threading.Thread(target=lambda: waited.append(grant.wait_revoke_requested()))
    thread.start()
    start = time.monotonic()
    grant.release()
    thread.join(LONG)
    assert waited == [False]
    assert time.monotonic() - start < LONG
    with pytest.raises(fencepost.ConfigError):
        grant.wait_revoke_requested(timeout="soon")  # type: ignore[arg-type]


def test_missing_rights_are_an_error_at_once(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    client = connect(zookeeper.url)
    zookeeper.client.ensure_path(f"/{zookeeper.prefix}")
    locks = {
        "a": client.read_write_lock("a").reader,
        "b": client.read_write_lock("b").writer,
        "c": client.election("c"),
        "d": client.lock("d", layout="kazoo"),
        "e": client.lock("e", layout="plain"),
    }
    for name, lock in locks.items():
        readable = [make_acl("world", "anyone", read=True)]
        zookeeper.client.create(zookeeper.directory(name), acl=readable)
        for wait in ({"timeout": LONG}, {"blocking": False}):
            start = time.monotonic()
            with pytest.raises(fencepost.Refused) as error:
                lock.acquire(**wait)
            assert (error.value.code, error.value.name) == (305, "no-permission")
            assert time.monotonic() - start < LONG / 2
