"""The holders and waiters of a lock, and the actions of an operator."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone
from typing import Any

import fencepost
import pytest
import redis
from conftest import AsyncConnect, Connect
from support import LONG, Backend, RedisBackend, ZooKeeperBackend, wait_until
from test_kinds import pair, place, take

__all__ = ["pair", "place"]

Pair = tuple[fencepost.Client, fencepost.Client]


def test_holders_and_waiters(pair: Pair, place: Backend) -> None:
    ours = pair[0].lock("stock", identifier="till-7", revocable=True)
    theirs = pair[1].lock("stock", identifier="till-8")
    assert ours.contenders() == []
    grant = take(ours)
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            with theirs.hold(timeout=LONG):
                pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: len(ours.contenders()) == 2, "there is a waiter")
    holder, waiter = theirs.contenders()
    assert (holder.holds, waiter.holds) == (True, False)
    assert (holder.shared, waiter.shared) == (False, False)
    assert (holder.identifier, waiter.identifier) == ("till-7", "till-8")
    assert holder.fence == grant.fence
    assert waiter.fence > holder.fence
    assert holder.session != waiter.session
    assert holder.node.rpartition("/")[0].endswith("/stock")
    if place.kind == "zookeeper":
        assert holder.since is not None
        assert abs(datetime.now(timezone.utc) - holder.since) < timedelta(minutes=1)
    theirs.revoke(holder)
    assert grant.wait_revoke_requested(timeout=LONG)
    theirs.break_contender(holder)
    thread.join(LONG)
    assert errors == []
    assert grant.lost.wait(LONG)
    with pytest.raises(fencepost.LockLost) as lost:
        grant.release()
    assert lost.value.name == "deleted"
    for action in (ours.revoke, ours.break_contender):
        with pytest.raises(fencepost.Refused) as error:
            action(holder)
        assert (error.value.code, error.value.name) == (316, "no-contender")


@pytest.mark.parametrize("layout", ["curator", "kazoo"])
def test_every_kind(pair: Pair, layout: fencepost.SharedLayout) -> None:
    client = pair[0]
    both = client.read_write_lock("rw", layout=layout)
    permits = client.semaphore("s", 2, layout=layout)
    election = client.election("e", layout=layout, identifier="me")
    with both.reader as one, both.reader as other:
        found = pair[1].read_write_lock("rw", layout=layout).writer.contenders()
        assert [(each.fence, each.shared, each.holds) for each in found] == [
            (one.fence, True, True),
            (other.fence, True, True),
        ]
    with permits, permits:
        assert [each.holds for each in permits.contenders()] == [True, True]
    with election as term:
        (leader,) = election.contenders()
        assert (leader.identifier, leader.fence) == ("me", term.fence)


def test_bad_input(connect: Connect) -> None:
    lock = connect("memory:").lock("a")
    other = connect("memory:").lock("b")
    with other:
        pass
    nothing: Any = "node"
    for action in (lock.break_contender, lock.revoke):
        with pytest.raises(fencepost.ConfigError) as error:
            action(nothing)
        assert error.value.name == "unreadable-settings"
    with other:
        (holder,) = other.contenders()
        with pytest.raises(fencepost.ConfigError):
            lock.break_contender(holder)
    with pytest.raises(fencepost.ConfigError) as on_redis:
        connect("redis://localhost:1").lock("a").revoke(holder)
    assert on_redis.value.name == "unknown-option"
    assert "break it" in str(on_redis.value)


def test_the_holder_on_redis(redis_server: RedisBackend, connect: Connect) -> None:
    name = redis_server.name()
    ours, theirs = connect(redis_server.url).lock(name), connect(redis_server.url).lock(name)
    assert ours.contenders() == []
    grant = take(ours)
    (holder,) = theirs.contenders()
    assert (holder.holds, holder.shared, holder.session, holder.since) == (True, False, None, None)
    assert holder.fence == grant.fence
    assert holder.expires_in is not None
    assert 0 < holder.expires_in <= 10
    theirs.break_contender(holder)
    with pytest.raises(fencepost.LockLost):
        grant.release()
    with pytest.raises(fencepost.Refused) as gone:
        theirs.break_contender(holder)
    assert gone.value.name == "no-contender"


def test_a_holder_of_redis_py(redis_server: RedisBackend, connect: Connect) -> None:
    """redis-py counts no fences, so the holder does not have the fence of an earlier holder."""
    name = redis_server.name()
    lock = connect(redis_server.url).lock(name)
    with lock:
        pass
    with redis.Redis.from_url(redis_server.url) as server:
        server.set(name, b"\xff token")
        (holder,) = lock.contenders()
        assert (holder.fence, holder.expires_in, holder.node) == (0, None, "\ufffd token")
        # Its bytes are not UTF-8, so they differ from the text that was shown.
        with pytest.raises(fencepost.Refused):
            lock.break_contender(holder)
        server.set(name, "token")
        (holder,) = lock.contenders()
        lock.break_contender(holder)
        assert server.get(name) is None


def test_no_permission_to_look(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    from kazoo.security import OPEN_ACL_UNSAFE, make_acl

    zookeeper.client.ensure_path(f"/{zookeeper.prefix}")
    directory = zookeeper.directory("a")
    zookeeper.client.create(directory, acl=[make_acl("world", "anyone", create=True, admin=True)])
    with pytest.raises(fencepost.Refused) as error:
        connect(zookeeper.url).lock("a").contenders()
    assert error.value.name == "no-permission"
    zookeeper.client.set_acls(directory, OPEN_ACL_UNSAFE)


async def test_asyncio(place: Backend, aconnect: AsyncConnect) -> None:
    lock = aconnect(place.url).lock("stock", identifier="till-7", on_lost="keep", revocable=True)
    operator = aconnect(place.url).lock("stock")
    assert await operator.contenders() == []
    with pytest.raises(fencepost.LockLost):
        async with lock as grant:
            (holder,) = await operator.contenders()
            assert (holder.identifier, holder.fence, holder.holds) == ("till-7", grant.fence, True)
            await operator.revoke(holder)
            assert await grant.wait_revoke_requested(timeout=LONG)
            await operator.break_contender(holder)
            await grant.lost.wait()
    with pytest.raises(fencepost.Refused) as error:
        await operator.break_contender(holder)
    assert error.value.name == "no-contender"
