"""The rights that a user of Redis needs: exactly those in docs/how-to/operate-redis.md."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
from support import LONG, RedisBackend, wait_until, wait_until_async

DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "operate-redis.md"
#: Lock names of users with few rights; one has a hash tag, so its keys have other names.
NAMES = ["stock", "{stock}/42"]
#: The commands that clients do not need.
DISPENSABLE = {"client|setinfo", "ping"}


def rights(name: str) -> list[str]:
    """The rights that the document names for a lock."""
    section = re.search(r"\n## Rights\n(.*?)\n## ", DOCUMENT.read_text(), re.DOTALL)
    assert section is not None
    commands, keys, tagged, hints, channel, *_ = re.findall(r"`([+~&][^`]+)`", section[1])
    if name.startswith("{"):
        keys, channel = tagged, channel.replace("{NAME}", "NAME")
    given = " ".join((commands, keys, hints, channel)).replace("NAME", name)
    return ["resetkeys", "resetchannels", *given.split()]


def channel(name: str) -> str:
    """The channel on which a release is announced."""
    return f"{name}:released" if name.startswith("{") else f"{{{name}}}:released"


def extensions(grant: Any) -> int:
    """How many renewals of a grant the server has confirmed."""
    return int(grant._contender.extended)


def listeners(server: RedisBackend, name: str) -> int:
    """How many waiters have subscribed."""
    return int(server.client.pubsub_numsub(channel(name))[0][1])


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest, redis_server: RedisBackend) -> Any:
    """A lock's name. Its keys are deleted after the test."""
    name = str(request.param)
    redis_server.client.acl_log_reset()
    yield name
    for database in (0, 1):
        with redis.Redis.from_url(f"redis://{redis_server.address}/{database}") as client:
            for key in client.scan_iter("*stock*"):
                client.delete(key)


def denied(server: RedisBackend) -> set[str]:
    """The commands that the server has denied."""
    return {str(entry["object"]) for entry in server.client.acl_log()}


def test_the_documented_rights_are_enough(redis_server: RedisBackend, user: Any, name: str) -> None:
    with (
        fencepost.connect(redis_server.url) as other,
        fencepost.connect(user(*rights(name))) as client,
    ):
        got: list[Any] = []

        def take_over(lock: fencepost.Lock, from_: fencepost.Grant) -> Any:
            """Waits for the lock. Only a message wakes the waiter in time."""
            waiter = threading.Thread(target=lambda: got.append(lock.acquire(timeout=LONG)))
            waiter.start()
            wait_until(lambda: listeners(redis_server, name), "it listens")
            from_.release()
            waiter.join(LONG)
            return got.pop()

        held = other.lock(name, ttl=60).acquire()
        assert held is not None
        grant = take_over(client.lock(name, ttl=15, poll=60), held)
        grant.extend()
        before = extensions(grant)
        wait_until(lambda: extensions(grant) > before, "it was renewed")
        assert grant.is_valid
        wait_until(lambda: not listeners(redis_server, name), "it has unsubscribed")
        take_over(other.lock(name, ttl=60, poll=60), grant).release()
    assert denied(redis_server) <= DISPENSABLE


async def test_so_they_are_below_a_loop(redis_server: RedisBackend, user: Any, name: str) -> None:
    async with (
        fencepost.asyncio.connect(redis_server.url) as other,
        fencepost.asyncio.connect(user(*rights(name))) as client,
    ):

        async def take_over(lock: fencepost.asyncio.Lock, from_: fencepost.asyncio.Grant) -> Any:
            waiter = asyncio.create_task(lock.acquire(timeout=LONG))
            await wait_until_async(lambda: listeners(redis_server, name), "it listens")
            await from_.release()
            return await waiter

        held = await other.lock(name, ttl=60).acquire()
        assert held is not None
        grant = await take_over(client.lock(name, ttl=15, poll=60), held)
        await grant.extend()
        before = extensions(grant)
        await wait_until_async(lambda: extensions(grant) > before, "it was renewed")
        assert grant.is_valid
        await wait_until_async(lambda: not listeners(redis_server, name), "it has unsubscribed")
        await (await take_over(other.lock(name, ttl=60, poll=60), grant)).release()
    assert denied(redis_server) <= DISPENSABLE


def test_another_database_needs_select(redis_server: RedisBackend, user: Any, name: str) -> None:
    for more in ([], ["+select"]):
        with fencepost.connect(f"{user(*rights(name), *more)}/1") as client:
            lock = client.lock(name, ttl=60)
            if more:
                lock.acquire().release()  # type: ignore[union-attr]
                continue
            with pytest.raises(fencepost.Refused, match="select") as error:
                lock.acquire()
            assert error.value.name == "no-permission"
