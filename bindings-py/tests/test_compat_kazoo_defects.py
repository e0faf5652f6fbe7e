"""Defects of kazoo's recipes that ours do not have. Kazoo's recipes must fail each of these tests."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.exceptions import CancelledError, LockTimeout
from kazoo_support import Kazoos, Worker
from support import LONG, Control, ZooKeeperBackend, wait_until

BOTH = pytest.mark.parametrize(
    "kind", [pytest.param("kazoo", marks=pytest.mark.xfail(strict=True)), pytest.param("ours")]
)


@pytest.fixture
def kazoos(zookeeper: ZooKeeperBackend) -> Iterator[Kazoos]:
    """Clients."""
    kazoos = Kazoos(zookeeper)
    yield kazoos
    kazoos.close()


@BOTH
def test_a_timeout_is_not_started_anew(kazoos: Kazoos, kind: str) -> None:
    directory = f"/{kazoos.backend.prefix}/l"
    kazoos.observer.ensure_path(directory)
    ahead = [
        kazoos.observer.create(f"{directory}/{number:032x}__lock__", sequence=True, ephemeral=True)
        for number in range(12)
    ]
    lock = kazoos.client(kind).Lock("/l")
    gone = threading.Event()

    def leave() -> None:
        # The watched contender leaves, again and again; the first one stays.
        for node in reversed(ahead[1:]):
            if gone.wait(0.5):
                break
            kazoos.observer.delete(node)

    thread = threading.Thread(target=leave)
    start = time.monotonic()
    thread.start()
    try:
        with pytest.raises(LockTimeout):
            lock.acquire(timeout=3.0)
        took = time.monotonic() - start
    finally:
        gone.set()
        thread.join()
        lock.cancel()
    # Each node that leaves would give it another three seconds: eight and a half in all.
    assert took < 7


@pytest.mark.parametrize("name", ["Lock", "Semaphore"])
def test_a_path_with_a_slash_at_its_end(kazoos: Kazoos, name: str) -> None:
    client = kazoos.client("ours")
    with getattr(client, name)("/l/m/"):
        assert getattr(client, name)("/l/m").acquire(blocking=False) is False


@BOTH
def test_a_cancel_without_a_waiter_is_forgotten(kazoos: Kazoos, kind: str) -> None:
    lock = kazoos.client(kind).Lock("/l")
    lock.cancel()
    assert lock.cancelled is True
    assert lock.acquire(timeout=LONG) is True
    assert lock.cancelled is False
    lock.release()


class Interrupted(BaseException):
    """The exception of a signal handler, as for Ctrl-C."""


@BOTH
@pytest.mark.parametrize("name", ["Lock", "ReadLock", "WriteLock"])
def test_an_interrupted_acquire_leaves_nothing(kazoos: Kazoos, kind: str, name: str) -> None:
    interrupted(kazoos, kind, name)


def test_an_interrupted_semaphore_leaves_nothing(kazoos: Kazoos) -> None:
    interrupted(kazoos, "ours", "Semaphore")


def interrupted(kazoos: Kazoos, kind: str, name: str) -> None:
    client = kazoos.client(kind)
    recipe = "Semaphore" if name == "Semaphore" else "WriteLock"
    line = "/l-__lock__" if name == "Semaphore" else "/l"
    holder = getattr(kazoos.client("kazoo"), recipe)("/l")
    holder.acquire()
    waiter = getattr(client, name)("/l")
    held = len(kazoos.children(line))

    def interrupt(number: int, frame: Any) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    main = threading.main_thread().ident
    assert main is not None

    def send() -> None:
        wait_until(lambda: len(kazoos.children(line)) == held + 1, "it waits")
        signal.pthread_kill(main, signal.SIGUSR1)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(Interrupted):
            waiter.acquire()
    finally:
        signal.signal(signal.SIGUSR1, before)
        sender.join()
    # Kazoo's node stays.
    limit = time.monotonic() + (LONG if kind == "ours" else 2)
    while len(kazoos.children(line)) > held and time.monotonic() < limit:
        time.sleep(0.01)
    assert len(kazoos.children(line)) == held
    holder.release()
    assert getattr(client, recipe)("/l").acquire(timeout=LONG) is True


@BOTH
@pytest.mark.parametrize("name", ["Lock", "ReadLock", "WriteLock", "Semaphore"])
def test_a_lock_that_is_lost_says_so(
    kazoos: Kazoos, control: Control, kind: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = kazoos.client(kind)
    recipe = getattr(client, name)("/l")
    recipe.acquire()
    session, password = client.client_id
    with caplog.at_level(logging.WARNING, "fencepost"):
        control.do(f"expire zookeeper {session} {password.hex()}")
        # Kazoo's recipe never reports it.
        limit = time.monotonic() + (LONG if kind == "ours" else 3)
        while recipe.is_acquired and time.monotonic() < limit:
            time.sleep(0.01)
        assert recipe.is_acquired is False
        assert recipe.lost.wait(LONG)
    wait_until(lambda: "l: lost after " in caplog.text, "the log says so")
    assert recipe.release() is False
    assert recipe.acquire(timeout=LONG) is True
    assert not recipe.lost.is_set()
    assert recipe.release() is True


@BOTH
def test_contenders_are_read_together(kazoos: Kazoos, control: Control, kind: str) -> None:
    proxy = control.do("proxy zookeeper")
    client = kazoos.client(kind, hosts=proxy["address"])
    directory = f"/{kazoos.backend.prefix}/l"
    kazoos.observer.ensure_path(directory)
    for number in range(10):
        node = f"{directory}/{number:032x}__lock__"
        kazoos.observer.create(node, b"n%d" % number, sequence=True, ephemeral=True)
    lock = client.Lock("/l")
    said: list[str] = []
    get_children = client.get_children

    def list_and_hold(*arguments: Any) -> Any:
        children = get_children(*arguments)
        control.do(f"proxy-hold {proxy['id']}")
        control.do(f"proxy-reset {proxy['id']}")
        return children

    client.get_children = list_and_hold
    thread = threading.Thread(target=lambda: said.extend(lock.contenders()))
    thread.start()

    def asked() -> int:
        return int(control.do(f"proxy-count {proxy['id']}")["by_kind"].get("getData (no watch)", 0))

    try:
        wait_until(lambda: asked() > 0, "the first is asked")
        # Kazoo requests one node after the other.
        limit = time.monotonic() + (LONG if kind == "ours" else 2)
        while asked() < 10 and time.monotonic() < limit:
            time.sleep(0.01)
        together = asked()
    finally:
        control.do(f"proxy-pass {proxy['id']}")
        thread.join(LONG)
    assert said == [f"n{number}" for number in range(10)]
    client.stop()
    assert together == 10


@BOTH
def test_the_semaphore_s_guard_says_whose_it_is(kazoos: Kazoos, kind: str) -> None:
    kazoos.client("kazoo").Semaphore("/s").acquire()
    waiter = kazoos.client(kind).Semaphore("/s", "till-7")
    kazoos.observer.ensure_path(f"/{kazoos.backend.prefix}/s-__lock__")
    worker = Worker(waiter)
    (guard,) = wait_until(lambda: kazoos.children("/s-__lock__"), "it waits")
    data, _ = kazoos.observer.get(f"/{kazoos.backend.prefix}/s-__lock__/{guard}")
    waiter.cancel()
    worker.finish()
    assert isinstance(worker.error, CancelledError)
    assert data == b"till-7"


@BOTH
def test_a_lock_is_cancelled_while_another_thread_holds_it(kazoos: Kazoos, kind: str) -> None:
    lock = kazoos.client(kind).Lock("/l")
    lock.acquire()
    worker = Worker(lock)
    wait_until(lambda: worker.thread.is_alive(), "it has begun")
    # Kazoo's recipe continues to wait.
    limit = time.monotonic() + (LONG if kind == "ours" else 3)
    while worker.thread.is_alive() and time.monotonic() < limit:
        lock.cancel()
        time.sleep(0.01)
    ended = not worker.thread.is_alive()
    lock.release()
    worker.finish()
    assert ended
    assert isinstance(worker.error, CancelledError)


@BOTH
def test_a_new_acquire_finds_no_node_of_an_old_session(kazoos: Kazoos, kind: str) -> None:
    """CURATOR-498: a contender recognises its own node by the name and the session."""
    client = kazoos.client(kind)
    directory = f"/{kazoos.backend.prefix}/l"
    lock = client.Lock("/l")
    lock.acquire()
    prefix = lock.prefix
    lock.release()
    # As if the earlier session had left it: the same name, another session, and the server deletes it soon.
    old = kazoos.observer.create(f"{directory}/{prefix}", sequence=True, ephemeral=True)
    worker = Worker(lock)
    wait_until(lambda: worker.acquired.is_set() or len(kazoos.children("/l")) == 2, "it has come")
    too_early = worker.acquired.is_set()
    kazoos.observer.delete(old)
    assert worker.acquired.wait(LONG)
    worker.finish()
    assert not too_early


def test_fences_grow(kazoos: Kazoos) -> None:
    locks = [kazoos.client("ours").Lock("/l") for _ in range(2)]
    assert locks[0].fence is None
    fences = []
    for number in range(4):
        with locks[number % 2]:
            fences.append(locks[number % 2].fence)
    assert fences == sorted(set(fences))


@BOTH
@pytest.mark.parametrize(("name", "most"), [("Lock", 2), ("ReadLock", 2), ("WriteLock", 2), ("Semaphore", 7)])
def test_an_acquire_asks_for_little(
    kazoos: Kazoos, control: Control, kind: str, name: str, most: int
) -> None:
    proxy = control.do("proxy zookeeper")
    # A session whose first confirmation is due after the test.
    client = kazoos.client(kind, hosts=proxy["address"], timeout=60)
    recipe = getattr(client, name)("/l")
    recipe.acquire()
    recipe.release()
    control.do(f"proxy-reset {proxy['id']}")
    recipe.acquire()
    asked = control.do(f"proxy-count {proxy['id']}")["by_kind"]
    recipe.release()
    client.stop()
    assert sum(count for what, count in asked.items() if what not in ("ping", "sync")) <= most
