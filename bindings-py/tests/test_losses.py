"""Grants that are lost, for threads: the holder is notified, and a waiter gets the lock."""

from __future__ import annotations

import threading
from typing import Any

import fencepost
import pytest
from conftest import Connect
from support import (
    LONG,
    Backend,
    Control,
    Program,
    RedisBackend,
    ZooKeeperBackend,
    long_lease,
    options,
    wait_until,
    with_session,
)


class Waiter(threading.Thread):
    """A thread that waits for a lock without a limit."""

    def __init__(self, lock: fencepost.Lock) -> None:
        super().__init__(daemon=True)
        self.lock = lock
        self.grant: fencepost.Grant | None = None
        self.start()

    def got(self) -> fencepost.Grant:
        """The grant that the thread got."""
        self.join(LONG)
        assert self.grant is not None
        return self.grant

    def run(self) -> None:
        self.grant = self.lock.acquire()


def wait_for_line(backend: Backend, count: int) -> None:
    """Waits until ``count`` contenders are queued. Redis has no queue: there, waits until a waiter has
    subscribed.
    """
    if isinstance(backend, RedisBackend):
        wait_until(lambda: backend.is_listened_to(backend.name()), "a waiter listens")
    else:
        wait_until(lambda: backend.contenders(backend.name()) == count, f"{count} stand in the line")


def test_the_lock_is_deleted(server: Backend, connect: Connect) -> None:
    # The lease must not end before the client notices the deletion, which must be the reason of the loss.
    url, lease = with_session(server.url, 60_000), options(server, 9)
    lock = connect(url).lock(server.name(), **lease)
    with pytest.raises(fencepost.LockLost) as error, lock as grant:
        waiter = Waiter(connect(url).lock(server.name(), **lease))
        wait_for_line(server, 2)
        server.delete(server.name())
        assert grant.lost.wait(LONG)
        assert not grant.is_valid
        assert grant.remaining() == 0.0
        # Another client may hold the lock now: this client must not release it.
        with pytest.raises(fencepost.LockLost):
            grant.release()
        with pytest.raises(fencepost.LockLost):
            grant.extend()
    assert error.value.code in (403, 404)
    second = waiter.got()
    assert grant.fence is not None
    assert second.fence is not None
    assert second.fence > grant.fence
    second.release()


def test_the_key_belongs_to_another_program(redis_server: RedisBackend, connect: Connect) -> None:
    name = redis_server.name()
    lock = connect(redis_server.url).lock(name, ttl=2)
    with pytest.raises(fencepost.LockLost) as error, lock as grant:
        redis_server.client.set(name, "foreign", px=60000)
        assert grant.lost.wait(LONG)
    assert error.value.name == "taken"
    assert redis_server.client.get(name) == b"foreign"


def test_the_session_expires(zookeeper: ZooKeeperBackend, connect: Connect, control: Control) -> None:
    client = connect(zookeeper.url)
    with pytest.raises(fencepost.LockLost) as error, client.lock(zookeeper.name()) as grant:
        waiter = Waiter(connect(zookeeper.url).lock(zookeeper.name()))
        wait_for_line(zookeeper, 2)
        driver: Any = client._driver
        session, password = driver.client.client_id
        control.do(f"expire zookeeper {session} {password.hex()}")
        assert grant.lost.wait(LONG)
    assert error.value.name in ("session-expired", "lease-ended")
    waiter.got().release()
    # The client has a new session, and continues.
    with client.lock(zookeeper.name()).hold(timeout=LONG):
        pass


@pytest.mark.parametrize(("down", "up"), [("pause", "resume"), ("stop", "start"), ("kill", "start")])
def test_the_server_goes_away_for_long(
    server: Backend, connect: Connect, control: Control, down: str, up: str
) -> None:
    lock = connect(server.url).lock(server.name(), **options(server))
    with pytest.raises(fencepost.LockLost) as error, lock as grant:
        waiter = Waiter(connect(server.url).lock(server.name(), **options(server)))
        wait_for_line(server, 2)
        control.do(f"{down} {server.server}")
        assert grant.lost.wait(LONG)
        assert not grant.is_valid
    assert error.value.name in ("lease-ended", "session-expired")
    control.do(f"{up} {server.server}")
    waiter.got().release()
    with lock.hold(timeout=LONG):
        pass


def test_the_server_goes_away_for_a_moment(
    zookeeper: ZooKeeperBackend, connect: Connect, control: Control
) -> None:
    proxy = control.do("proxy zookeeper")
    url = with_session(zookeeper.at(proxy["address"]), 10000)
    with connect(url).lock(zookeeper.name()) as grant:
        control.do(f"proxy-cut {proxy['id']}")
        wait_until(lambda: not grant.is_valid, "the grant is not valid")
        assert not grant.lost.is_set()
        control.do(f"proxy-heal {proxy['id']}")
        wait_until(lambda: grant.is_valid, "the grant is valid again")
    assert not grant.lost.is_set()


@pytest.mark.parametrize("how", [(), ("asyncio",)], ids=["threads", "asyncio"])
def test_the_holder_s_process_is_killed(server: Backend, connect: Connect, how: tuple[str, ...]) -> None:
    lease = str(options(server).get("ttl", 0))
    program = Program("hold.py", server.url, server.name(), lease, *how)
    try:
        fence = int(program.line())
        lock = connect(server.url).lock(server.name(), **options(server))
        assert lock.acquire(blocking=False) is None
        waiter = Waiter(lock)
        wait_for_line(server, 2)
    finally:
        program.kill()
    grant = waiter.got()
    assert grant.fence is not None
    assert grant.fence > fence
    grant.release()


@pytest.mark.parametrize("how", [(), ("asyncio",)], ids=["threads", "asyncio"])
def test_a_release_is_the_first_to_know_of_a_loss(server: Backend, how: tuple[str, ...]) -> None:
    url = with_session(server.url, 30000)
    program = Program("hold.py", url, server.name(), "60" if server.kind == "redis" else "0", *how)
    assert int(program.line()) > 0
    with program.stopped():
        server.delete(server.name())
    assert program.line() == "LockLost"
    assert program.finish() == 0


@pytest.mark.parametrize("how", [(), ("asyncio",)], ids=["threads", "asyncio"])
def test_a_release_after_the_lease_leaves_the_next_holder_alone(
    redis_server: RedisBackend, connect: Connect, how: tuple[str, ...]
) -> None:
    program = Program("hold.py", redis_server.url, redis_server.name(), "1", *how)
    assert int(program.line()) > 0
    with program.stopped():
        grant = connect(redis_server.url).lock(redis_server.name(), ttl=60).acquire(timeout=LONG)
        assert grant is not None
    assert program.line() == "LockLost"
    assert program.finish() == 0
    assert redis_server.contenders(redis_server.name()) == 1
    grant.release()
    assert redis_server.contenders(redis_server.name()) == 0


def test_a_process_does_not_wait_for_its_client(server: Backend) -> None:
    program = Program("forget.py", server.url, server.name())
    assert program.line() == "held"
    assert program.finish() == 0


@pytest.mark.parametrize("number", [1, 2])
def test_a_lost_reply_leaves_no_orphaned_lock(
    server: Backend, connect: Connect, control: Control, number: int
) -> None:
    proxy = control.do(f"proxy {server.server}")
    lock = connect(server.at(proxy["address"])).lock(server.name(), **options(server))
    with lock:
        pass
    control.do(f"proxy-drop-replies {proxy['id']} {number}")
    with lock.hold(timeout=LONG) as grant:
        assert grant.is_valid
        assert lock.acquire(blocking=False) is None
    wait_until(lambda: control.do(f"proxy-count {proxy['id']}")["replies_lost"] == 1, "a reply was lost")
    wait_until(lambda: server.contenders(server.name()) == 0, "nothing is left")
    with lock.hold(timeout=LONG):
        pass


def test_a_server_that_is_not_there(server: Backend, connect: Connect) -> None:
    lock = connect(server.at("127.0.0.1:1")).lock(server.name())
    with pytest.raises(fencepost.Refused) as error:
        lock.acquire(timeout=0.3)
    assert (error.value.code, error.value.name) == (304, "unreachable")
    assert not isinstance(error.value, fencepost.NotAcquired)


def test_a_server_that_says_nothing(server: Backend, connect: Connect, control: Control) -> None:
    control.do(f"pause {server.server}")
    lock = connect(server.url).lock(server.name(), answer_within=0.3)
    for wait in ({"timeout": 0.3}, {"blocking": False}):
        with pytest.raises(fencepost.Refused) as error:
            lock.acquire(**wait)
        assert error.value.name == "unreachable"


def test_a_release_without_a_confirmation(
    server: Backend, connect: Connect, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost._client.calls.CONFIRM_WITHIN", 0.3)
    proxy = control.do(f"proxy {server.server}")
    client = connect(with_session(server.at(proxy["address"]), 10000))
    lock = client.lock(server.name(), **long_lease(server))
    grant = lock.acquire()
    assert grant is not None
    control.do(f"proxy-hold {proxy['id']}")
    with pytest.raises(fencepost.ReleaseUnconfirmed) as error:
        grant.release()
    assert (error.value.code, error.value.name) == (501, "release-unconfirmed")
    with pytest.raises(fencepost.MisuseError):
        grant.release()
    control.do(f"proxy-pass {proxy['id']}")
    wait_until(lambda: server.contenders(server.name()) == 0, "it is released in the background")
    wait_until(lambda: client._engine.hub.pending == 0, "the server has said so")


def test_a_close_that_has_to_leave_something(
    server: Backend, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost._client.client.CONFIRM_WITHIN", 0.3)
    proxy = control.do(f"proxy {server.server}")
    client = fencepost.connect(server.at(proxy["address"]))
    grant = client.lock(server.name(), **options(server)).acquire()
    assert grant is not None
    control.do(f"proxy-hold {proxy['id']}")
    with pytest.raises(fencepost.CleanupIncomplete) as error:
        client.close()
    assert (error.value.code, error.value.name, error.value.count) == (503, "cleanup-incomplete", 1)
    client.close()
