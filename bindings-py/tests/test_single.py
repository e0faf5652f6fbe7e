"""Unfair locks, which are single nodes, and writers that are downgraded to readers."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect, Connect
from kazoo.security import make_acl
from support import BRIEF, LONG, Backend, Control, Program, ZooKeeperBackend, wait_until
from test_asyncio_kinds import take as atake
from test_kinds import Pair, pair, place, take

__all__ = ["pair", "place"]

READABLE = [make_acl("world", "anyone", read=True, admin=True)]
OPEN = [make_acl("world", "anyone", all=True)]


def test_an_unfair_lock_excludes(pair: Pair) -> None:
    mine, theirs = pair[0].lock("nightly", fair=False), pair[1].lock("nightly", fair=False)
    with mine as grant:
        assert grant.fence is not None
        assert grant.is_valid
        assert theirs.acquire(blocking=False) is None
        assert mine.acquire(timeout=BRIEF) is None
        fences: list[int] = []

        def work(lock: fencepost.Lock) -> None:
            with lock.hold(timeout=LONG) as grant:
                assert grant.fence is not None
                fences.append(grant.fence)

        threads = [threading.Thread(target=work, args=(lock,)) for lock in (mine, theirs, theirs)]
        for thread in threads:
            thread.start()
        grant.extend()
    for thread in threads:
        thread.join(LONG)
    assert fences == sorted(fences)
    assert len(set(fences)) == 3
    assert fences[0] > grant.fence
    with mine:
        pass


def test_the_holder_is_found_and_broken(pair: Pair) -> None:
    mine = pair[0].lock("nightly", fair=False, identifier="till-7")
    theirs = pair[1].lock("nightly", fair=False)
    assert theirs.contenders() == []
    grant = take(mine)
    (holder,) = theirs.contenders()
    assert holder.holds
    assert (holder.identifier, holder.fence) == ("till-7", grant.fence)
    assert holder.node.endswith("/nightly")
    theirs.break_contender(holder)
    assert grant.lost.wait(LONG)
    with pytest.raises(fencepost.LockLost) as error:
        grant.release()
    assert error.value.name == "deleted"
    with theirs, pytest.raises(fencepost.Refused) as gone:
        theirs.break_contender(holder)
    assert gone.value.name == "no-contender"


async def test_for_asyncio(place: Backend, aconnect: AsyncConnect) -> None:
    mine = aconnect(place.url).lock("nightly", fair=False, owner="request-17")
    theirs = aconnect(place.url).lock("nightly", fair=False)
    async with mine as outer:
        async with mine as inner:
            assert inner.fence == outer.fence
        assert await theirs.acquire(blocking=False) is None
        waiting = asyncio.create_task(atake(theirs))
        assert [one.fence for one in await theirs.contenders()] == [outer.fence]
    await (await waiting).release()


def test_only_plain_locks_are_unfair(pair: Pair, connect: Connect) -> None:
    client, redis = pair[0], connect("redis://localhost:1")
    anything: Any = "no"
    for where, options, name in (
        (client, {"fair": False, "layout": "kazoo"}, "unknown-option"),
        (client, {"fair": False, "revocable": True}, "unknown-option"),
        (client, {"fair": False, "revocable": False}, "unknown-option"),
        (client, {"fair": anything}, "unreadable-settings"),
        (redis, {"fair": False}, "unknown-option"),
        (redis, {"fair": True}, "unknown-option"),
    ):
        with pytest.raises(fencepost.ConfigError) as error:
            where.lock("x", **options)
        assert error.value.name == name
    with client.lock("fair", fair=True) as grant:
        (one,) = client.lock("fair").contenders()
        assert one.fence == grant.fence
        assert "-lock-" in one.node


def expire(client: fencepost.Client, control: Control) -> None:
    """Ends a client's session."""
    driver: Any = client._driver
    session, password = driver.client.client_id
    control.do(f"expire zookeeper {session} {password.hex()}")


def waiting(lock: fencepost.Lock) -> tuple[threading.Thread, list[fencepost.Grant]]:
    """A thread that waits for a lock, and the list for its grant."""
    got: list[fencepost.Grant] = []
    thread = threading.Thread(target=lambda: got.append(take(lock)))
    thread.start()
    return thread, got


def test_an_expired_holder_leaves_it_to_the_waiter(
    zookeeper: ZooKeeperBackend, control: Control, connect: Connect
) -> None:
    a, b = connect(zookeeper.url), connect(zookeeper.url)
    grant = take(a.lock("nightly", fair=False))
    thread, got = waiting(b.lock("nightly", fair=False))
    expire(a, control)
    assert grant.lost.wait(LONG)
    thread.join(LONG)
    with got.pop() as following:
        assert following.fence is not None
        assert grant.fence is not None
        assert following.fence > grant.fence


def test_a_killed_holder_leaves_it_to_the_waiter(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    program = Program("hold.py", zookeeper.url, "nightly", "0", "unfair")
    fence = int(program.line())
    lock = connect(zookeeper.url).lock("nightly", fair=False)
    assert lock.acquire(blocking=False) is None
    thread, got = waiting(lock)
    program.kill()
    thread.join(LONG)
    with got.pop() as grant:
        assert grant.fence is not None
        assert grant.fence > fence


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_lost_reply_leaves_no_node(
    zookeeper: ZooKeeperBackend, control: Control, connect: Connect, number: int
) -> None:
    proxy = control.do(f"proxy {zookeeper.server}")
    lock = connect(zookeeper.at(proxy["address"])).lock("nightly", fair=False)
    with lock:
        pass
    control.do(f"proxy-drop-replies {proxy['id']} {number}")
    with lock.hold(timeout=LONG):
        pass
    node = zookeeper.directory("nightly")
    wait_until(lambda: zookeeper.client.exists(node) is None, "nothing is left")
    with connect(zookeeper.url).lock("nightly", fair=False).hold(blocking=False):
        pass


def test_a_node_that_goes_with_no_session_is_no_lock(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    node = zookeeper.directory("nightly")
    zookeeper.client.create(node, b"settings", makepath=True)
    with pytest.raises(fencepost.Refused) as error:
        connect(zookeeper.url).lock("nightly", fair=False).acquire()
    assert error.value.name == "wrong-type"
    assert zookeeper.client.get(node)[0] == b"settings"


@pytest.mark.parametrize("layout", ["curator", "kazoo"])
def test_readers_get_in_at_a_downgrade_and_writers_do_not(
    pair: Pair, place: Backend, layout: fencepost.SharedLayout
) -> None:
    mine = pair[0].read_write_lock("prices", layout=layout, identifier="till-7")
    theirs = pair[1].read_write_lock("prices", layout=layout)
    grant = take(mine.writer)
    fence = grant.fence
    reading, readers = waiting(theirs.reader)
    wait_until(lambda: len(theirs.reader.contenders()) == 2, "the reader waits")
    writing, writers = waiting(theirs.writer)
    wait_until(lambda: len(theirs.reader.contenders()) == 3, "the writer waits")
    grant.downgrade()
    reading.join(LONG)
    assert not writers
    assert grant.is_valid
    assert grant.fence == fence
    found = theirs.reader.contenders()
    sharing = [one.identifier for one in found if one.shared and one.holds]
    assert len(sharing) == 2
    assert "till-7" in sharing
    grant.extend()
    with pytest.raises(fencepost.MisuseError) as error:
        grant.downgrade()
    assert (error.value.code, error.value.name) == (210, "not-a-writer")
    readers.pop().release()
    assert not writers
    grant.release()
    writing.join(LONG)
    with writers.pop() as following:
        assert following.fence is not None
        assert fence is not None
        assert following.fence > fence
    assert theirs.reader.contenders() == []


def downgraded(zookeeper: ZooKeeperBackend, client: fencepost.Client) -> tuple[fencepost.Grant, str]:
    """A grant that was downgraded, and its node."""
    grant = take(client.read_write_lock("prices").writer)
    grant.downgrade()
    (child,) = zookeeper.children("prices")
    assert "__READ__" in child
    return grant, f"{zookeeper.directory('prices')}/{child}"


def test_a_downgraded_grant_is_watched(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    grant, node = downgraded(zookeeper, connect(zookeeper.url))
    assert not grant.lost.is_set()
    zookeeper.client.delete(node)
    assert grant.lost.wait(LONG)
    for call in (grant.downgrade, grant.release):
        with pytest.raises(fencepost.LockLost) as error:
            call()
        assert error.value.name == "deleted"


def test_a_downgraded_grant_goes_with_its_session(
    zookeeper: ZooKeeperBackend, control: Control, connect: Connect
) -> None:
    client = connect(zookeeper.url)
    grant, _ = downgraded(zookeeper, client)
    thread, got = waiting(connect(zookeeper.url).read_write_lock("prices").writer)
    expire(client, control)
    assert grant.lost.wait(LONG)
    thread.join(LONG)
    got.pop().release()


def test_a_downgrade_without_an_answer_is_asked_for_again(
    zookeeper: ZooKeeperBackend, control: Control, connect: Connect
) -> None:
    proxy = control.do(f"proxy {zookeeper.server}")
    both = connect(zookeeper.at(proxy["address"])).read_write_lock("prices")
    with both.writer as grant:
        control.do(f"proxy-drop-replies {proxy['id']} 1")
        grant.downgrade()
        (child,) = zookeeper.children("prices")
        assert "__READ__" in child
    wait_until(lambda: not zookeeper.children("prices"), "nothing is left")


def test_a_downgrade_that_is_refused(zookeeper: ZooKeeperBackend, connect: Connect) -> None:
    both = connect(zookeeper.url).read_write_lock("prices", owner="request-17")
    grant = take(both.writer)
    zookeeper.client.set_acls(zookeeper.directory("prices"), READABLE)
    with pytest.raises(fencepost.Refused) as error:
        grant.downgrade()
    assert (error.value.code, error.value.name) == (305, "no-permission")
    assert grant.is_valid
    with both.writer:  # The owner is still a writer.
        pass
    with both.reader as share:
        with pytest.raises(fencepost.Refused) as refused:
            grant.release()
        assert refused.value.name == "no-permission"
        assert share.is_valid
        zookeeper.client.set_acls(zookeeper.directory("prices"), OPEN)
    assert zookeeper.children("prices") == []
    with both.writer as following:
        following.downgrade()


async def test_a_downgrade_for_asyncio(zookeeper: ZooKeeperBackend, aconnect: AsyncConnect) -> None:
    both = aconnect(zookeeper.url).read_write_lock("prices")
    theirs = aconnect(zookeeper.url).read_write_lock("prices")
    async with both.writer as grant:
        waiting = asyncio.create_task(atake(theirs.reader))
        downgrade = asyncio.create_task(grant.downgrade())
        await asyncio.sleep(0)
        downgrade.cancel()  # The downgrade continues.
        # The next calls return its result.
        await asyncio.gather(grant.downgrade(), grant.downgrade())
        with pytest.raises(fencepost.MisuseError) as error:
            await grant.downgrade()
        assert error.value.name == "not-a-writer"
        await (await waiting).release()
        assert grant.is_valid
    async with both.writer as another:
        zookeeper.client.set_acls(zookeeper.directory("prices"), READABLE)
        with pytest.raises(fencepost.Refused):
            await another.downgrade()
        zookeeper.client.set_acls(zookeeper.directory("prices"), OPEN)
        assert await theirs.reader.acquire(blocking=False) is None
