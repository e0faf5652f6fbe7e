"""The installation of our locks in kazoo's client, and the features of kazoo's locks that ours refuse."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import fencepost
import pytest
from fencepost.compat import kazoo as ours
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout
from kazoo.recipe.lock import Lock as KazoosLock
from kazoo_support import Kazoos
from support import LONG, ZooKeeperBackend, wait_until
from test_kazoo import traces


@pytest.fixture
def kazoos(zookeeper: ZooKeeperBackend) -> Iterator[Kazoos]:
    """Clients."""
    kazoos = Kazoos(zookeeper)
    yield kazoos
    kazoos.close()


def test_install_before_the_start(kazoos: Kazoos) -> None:
    client = kazoos.client("kazoo", start=False)
    assert ours.install(client) is client
    client.start()
    lock = client.Lock("/l", "me", extra_lock_patterns=["-lock-"])
    assert isinstance(lock, ours.Lock)
    assert lock.acquire(timeout=LONG) is True
    lock.release()
    assert isinstance(client.ReadLock("/l"), ours.ReadLock)
    assert isinstance(client.WriteLock("/l"), ours.WriteLock)
    assert isinstance(client.Semaphore("/l", max_leases=2), ours.Semaphore)
    assert isinstance(client.Election("/l"), ours.Election)
    assert isinstance(KazooClient().Lock("/l"), KazoosLock)


def test_the_classes_on_a_client_that_is_connected(kazoos: Kazoos) -> None:
    client = kazoos.client("kazoo")
    kazoos.client("kazoo").Lock("/held").acquire()
    # The client has no proof of this session yet. A lock that another client holds is refused all the same.
    held = ours.Lock(client, "/held")
    with pytest.raises(LockTimeout):
        held.acquire(timeout=0.5)
    assert held.acquire(blocking=False) is False
    # A free lock is granted late: a quarter of the session's timeout after the first Lock, and not later.
    for free, how in (("/l", {"timeout": 1.5}), ("/m", {"blocking": False})):
        lock = ours.Lock(client, free)
        start = time.monotonic()
        assert lock.acquire(**how) is True
        assert time.monotonic() - start < LONG
        assert lock.is_acquired
        assert kazoos.client("kazoo").Lock(free).acquire(blocking=False) is False
        lock.release()


def test_a_client_that_has_stopped_is_left_alone(kazoos: Kazoos) -> None:
    before = set(threading.enumerate())
    client = kazoos.client("ours")
    with client.Lock("/l"):
        pass
    client.stop()
    wait_until(lambda: traces(client) == [], "everything is taken off")
    wait_until(lambda: set(threading.enumerate()) <= before, "its threads have ended")
    client.start()
    assert client.Lock("/l").acquire(timeout=LONG) is True


def test_a_stop_notifies_a_waiter(kazoos: Kazoos) -> None:
    client = kazoos.client("ours")
    lock = client.Lock("/l")
    lock.acquire()
    errors: list[Exception] = []

    def wait(wanted: Any) -> None:
        try:
            wanted.acquire()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=wait, args=(each,)) for each in (lock, client.Lock("/l"))]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(kazoos.children("/l")) == 2, "one waits in the line")
    client.stop()
    for thread in threads:
        thread.join(LONG)
    assert len(errors) == 2
    assert all(isinstance(error, KazooException) for error in errors)


@pytest.mark.parametrize("name", ["Lock", "ReadLock", "WriteLock", "Semaphore"])
def test_bad_input(name: str) -> None:
    client = ours.KazooClient()
    recipe = getattr(client, name)
    for arguments in (("",), ("/",), ("/a/../b",), ("/a", "x" * 1025)):
        with pytest.raises(ValueError, match=r"."):
            recipe(*arguments)
    with pytest.raises(ValueError, match="timeout"):
        recipe("/a").acquire(False, 1)
    with pytest.raises(ValueError, match="permits"):
        client.Semaphore("/a", max_leases=0)


def test_what_is_refused(kazoos: Kazoos) -> None:
    client = kazoos.client("ours")
    with pytest.raises(NotImplementedError, match="ephemeral"):
        client.Lock("/l").acquire(ephemeral=False)
    with pytest.raises(NotImplementedError, match="my-own"):
        client.Lock("/l", extra_lock_patterns=["my-own"])


def test_foreign_contenders_are_expected_or_reported(kazoos: Kazoos) -> None:
    directory = f"/{kazoos.backend.prefix}/l"
    kazoos.observer.create(f"{directory}/_c_x-lock-0000000000", makepath=True)
    client = kazoos.client("ours")
    with pytest.warns(fencepost.MixedLayoutsWarning, match="_c_x-lock-") as seen:
        assert client.Lock("/l").acquire(blocking=False) is False
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expecting = client.Lock("/l", extra_lock_patterns=["-lock-"])
        assert expecting.acquire(blocking=False) is False
        assert len(expecting.contenders()) == 1
