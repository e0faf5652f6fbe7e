"""The client for threads, on every backend."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import fencepost
import pytest
from conftest import Connect
from support import BRIEF, LONG, Backend, makers, options, wait_until, with_session


def test_a_scope_holds_the_lock(backend: Backend, connect: Connect) -> None:
    client = connect(backend.url)
    lock = client.lock(backend.name())
    with lock as grant:
        assert grant.is_valid
        assert grant.name == backend.name()
        remaining = grant.remaining()
        assert remaining is not None
        assert 0 < remaining <= 60
        assert not grant.lost.is_set()
        assert grant.fence is not None
        assert grant.fence > 0
    assert not grant.is_valid
    assert grant.remaining() == 0.0
    assert not grant.lost.is_set()


def test_two_clients_exclude_each_other(backend: Backend, connect: Connect) -> None:
    ours, theirs = (connect(backend.url).lock(backend.name()) for _ in range(2))
    grant = ours.acquire()
    assert grant is not None
    assert theirs.acquire(blocking=False) is None
    start = time.monotonic()
    assert theirs.acquire(timeout=BRIEF) is None
    assert BRIEF - 0.01 <= time.monotonic() - start < LONG
    grant.release()
    second = theirs.acquire(timeout=timedelta(seconds=LONG))
    assert second is not None
    assert grant.fence is not None
    assert second.fence is not None
    assert second.fence > grant.fence
    second.release()


def test_threads_lose_no_increment(backend: Backend, connect: Connect) -> None:
    locks = [connect(backend.url).lock(backend.name()) for _ in range(2)]
    count, fences = 0, []

    def work(lock: fencepost.Lock) -> None:
        nonlocal count
        for _ in range(20):
            with lock as grant:
                seen = count
                time.sleep(0)
                count = seen + 1
                fences.append(grant.fence)

    threads = [threading.Thread(target=work, args=(locks[number % 2],)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert count == 120
    assert fences == sorted(set(fences), key=lambda fence: fence or 0)


def test_hold_is_a_scope_with_a_limit(backend: Backend, connect: Connect) -> None:
    ours, theirs = (connect(backend.url).lock(backend.name()) for _ in range(2))
    with ours.hold(timeout=LONG) as grant:
        assert grant.is_valid
        with pytest.raises(fencepost.NotAcquired) as late, theirs.hold(timeout=BRIEF):
            pytest.fail("two holders")
        with pytest.raises(fencepost.NotAcquired) as tried, theirs.hold(blocking=False):
            pytest.fail("two holders")
    assert (late.value.code, late.value.name) == (301, "timeout")
    assert str(late.value).startswith(f"{backend.name()}: another contender held the lock")
    assert (tried.value.code, tried.value.name) == (302, "not-available")
    assert str(tried.value).startswith(f"{backend.name()}: another contender holds the lock")


def test_extend_makes_the_grant_last(backend: Backend, connect: Connect) -> None:
    options: dict[str, Any] = {"renew": False} if backend.kind == "redis" else {}
    lock = connect(backend.url).lock(backend.name(), **options)
    with lock as grant:
        start = time.monotonic()
        before = grant.remaining()
        assert before is not None
        time.sleep(0.02)
        asked = time.monotonic()
        grant.extend()
        after = grant.remaining()
        assert after is not None
        now = time.monotonic()
        # On ZooKeeper a confirmation proves an earlier one, if that was a quarter of the session ago.
        since = asked if backend.kind == "redis" else start
        assert after >= before - (now - since) - 0.001


def test_a_zookeeper_grant_is_extended_by_later_confirmations(zookeeper: Backend, connect: Connect) -> None:
    lock = connect(zookeeper.url).lock(zookeeper.name())
    with lock as grant:
        remaining = grant.remaining()
        assert remaining is not None
        end = time.monotonic() + remaining
        limit = end + 5
        while time.monotonic() + (grant.remaining() or 0) < end + 0.05:
            assert time.monotonic() < limit
            grant.extend()


def test_a_grant_that_is_held_long_stays_valid(server: Backend, connect: Connect) -> None:
    lock = connect(with_session(server.url, 9_000)).lock(server.name(), **options(server, 9))
    with lock as grant:
        # This is longer than the lease that was granted.
        end = time.monotonic() + 9.1
        while time.monotonic() < end:
            assert grant.is_valid
            time.sleep(0.01)
    assert not grant.lost.is_set()


def test_any_thread_may_release(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name())
    grant = lock.acquire()
    assert grant is not None
    thread = threading.Thread(target=grant.release)
    thread.start()
    thread.join(LONG)
    with lock.hold(timeout=LONG):
        pass


def test_releasing_twice_is_a_misuse(backend: Backend, connect: Connect) -> None:
    grant = connect(backend.url).lock(backend.name()).acquire()
    assert grant is not None
    grant.release()
    for again in (grant.release, grant.extend):
        with pytest.raises(fencepost.MisuseError) as error:
            again()
        assert (error.value.code, error.value.name) == (205, "not-held")
        assert isinstance(error.value, RuntimeError)


def test_a_scope_may_be_left_after_a_release(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name())
    with lock as grant:
        grant.release()
    with lock, pytest.raises(fencepost.MisuseError):
        grant.release()


def test_a_body_that_raises_releases(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name())
    with pytest.raises(ZeroDivisionError), lock:
        _ = 1 // 0
    with lock.hold(timeout=LONG):
        pass


def test_a_dropped_grant_is_released(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name())
    grant = lock.acquire()
    assert grant is not None
    del grant
    gc.collect()
    with lock.hold(timeout=LONG):
        pass


def test_max_hold_ends_the_grant(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name(), max_hold=0.1)
    with pytest.raises(fencepost.LockLost) as error, lock as grant:
        assert grant.lost.wait(LONG)
        assert not grant.is_valid
    assert (error.value.code, error.value.name) == (405, "max-hold")
    with lock.hold(timeout=LONG):
        pass


def test_a_body_s_own_exception_outranks_the_loss(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name(), max_hold=0.05)
    with pytest.raises(KeyError), lock as grant:
        assert grant.lost.wait(LONG)
        raise KeyError("mine")


def test_close_releases_and_wakes(backend: Backend, connect: Connect) -> None:
    ours, theirs = (connect(backend.url) for _ in range(2))
    lock = ours.lock(backend.name())
    grant = lock.acquire()
    assert grant is not None
    errors: list[fencepost.MisuseError] = []

    def wait() -> None:
        with pytest.raises(fencepost.MisuseError) as error:
            lock.acquire()
        errors.append(error.value)

    thread = threading.Thread(target=wait)
    thread.start()
    if backend.kind == "zookeeper":
        wait_until(lambda: backend.contenders(backend.name()) == 2, "the waiter is in the line")
    ours.close()
    thread.join(LONG)
    ours.close()
    assert ours.closed
    assert [error.name for error in errors] == ["client-closed"]
    with theirs.lock(backend.name()).hold(timeout=LONG):
        pass
    calls: list[Callable[[], object]] = [lock.acquire, ours.__enter__, lambda: lock.hold().__enter__()]
    for call in calls + makers(ours, backend):
        with pytest.raises(fencepost.MisuseError) as error:
            call()
        assert (error.value.code, error.value.name) == (207, "client-closed")
    for end in (grant.release, grant.extend):
        with pytest.raises(fencepost.LockLost) as lost:
            end()
        assert (lost.value.code, lost.value.name) == (406, "lost-connection-closed")
    assert not grant.is_valid


def test_a_closed_client_leaves_no_thread(backend: Backend) -> None:
    before = set(threading.enumerate())
    with (
        fencepost.connect(backend.url) as client,
        client.lock(backend.name()),
        client.lock(backend.name("other")),
    ):
        assert client.lock(backend.name()).acquire(timeout=BRIEF) is None
    wait_until(lambda: set(threading.enumerate()) <= before, "its threads have ended")


def test_threads_of_a_client_are_daemons(backend: Backend, connect: Connect) -> None:
    before = set(threading.enumerate())
    client = connect(backend.url)
    with client.lock(backend.name()):
        assert client.lock(backend.name()).acquire(timeout=BRIEF) is None
        assert all(thread.daemon for thread in set(threading.enumerate()) - before)


def test_a_forgotten_client_warns_and_releases(backend: Backend, connect: Connect) -> None:
    client = fencepost.connect(backend.url)
    grant = client.lock(backend.name()).acquire()
    assert grant is not None
    forgotten = [client, grant]
    del client, grant
    with pytest.warns(ResourceWarning, match="unclosed"):
        forgotten.clear()
    with connect(backend.url).lock(backend.name()).hold(timeout=LONG):
        pass


def test_errors_survive_pickling() -> None:
    error = fencepost.ConfigError("text", 101, "empty-name")
    made = pickle.loads(pickle.dumps(error))
    assert (str(made), made.code, made.name) == ("text", 101, "empty-name")
    again = fencepost.NotAcquired(*fencepost.NotAcquired("text", 301, "held").args)  # as Celery does
    assert (str(again), again.code, again.name) == ("text", 301, "held")
    left = pickle.loads(pickle.dumps(fencepost.CleanupIncomplete("text", count=3)))
    assert (left.code, left.name, left.count) == (503, "cleanup-incomplete", 3)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies_of_errors_have_their_attributes(how: Callable[[Any], Any]) -> None:
    record = fencepost.Record("value", "", 0, 0, "retake", None, None, 3, "json", b"5", 1)
    for error in (
        fencepost.LockLost("text", 401, "lost-lease-ended"),
        fencepost.Conflict("text", 319, "conflict", retry_after=2.5, record=record),
        fencepost.DriverMissing("text"),
    ):
        error.__dict__["order"] = 17
        error.__dict__["__notes__"] = ["while paying"]  # add_note is new in Python 3.11
        made = how(error)
        assert type(made) is type(error)
        assert (str(made), made.args, made.name) == (str(error), error.args, error.name)
        assert made.__dict__ == error.__dict__


def test_objects_say_what_they_are(backend: Backend, connect: Connect) -> None:
    client = connect(backend.url)
    lock = client.lock(backend.name())
    with lock as grant:
        assert repr(lock.name) in repr(lock)
        assert "held" in repr(grant)
    assert "released" in repr(grant)
    assert backend.kind[:2].replace("zo", "zk") in repr(client)
