"""Two thousand contenders on one ZooKeeper session: a burst, a restart of the server, a close. Nothing of the
client may block while it holds a lock of its own, or on the thread that reads the server's answers.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from fencepost.compat import kazoo as compat
from kazoo.client import KazooClient
from support import LONG, Control, ZooKeeperBackend, wait_until

MANY = 2000
#: As many threads wait for locks that have a thread each.
THREADS = 300
#: For what two thousand contenders do on a busy machine, in seconds.
PATIENT = 100.0

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(params=["address", "own"])
def kazoo(request: pytest.FixtureRequest, zookeeper: ZooKeeperBackend) -> Iterator[KazooClient | None]:
    """The caller's own KazooClient; None: the client is made by address."""
    if request.param == "address":
        yield None
        return
    kazoo = KazooClient(hosts=zookeeper.address, timeout=24)
    kazoo.start()
    yield kazoo
    kazoo.stop()
    kazoo.close()


def url(zookeeper: ZooKeeperBackend) -> str:
    """An address with a session that outlives a restart."""
    return zookeeper.url.replace("=4000", "=24000")


@pytest_asyncio.fixture
async def loop_client(
    zookeeper: ZooKeeperBackend, kazoo: KazooClient | None
) -> AsyncIterator[fencepost.asyncio.Client]:
    """A client for asyncio."""
    if kazoo is None:
        client = fencepost.asyncio.connect(url(zookeeper))
    else:
        client = fencepost.asyncio.Client(kazoo, prefix=zookeeper.prefix)
    yield client
    await client.close()


@pytest.fixture
def client(zookeeper: ZooKeeperBackend, kazoo: KazooClient | None) -> Iterator[fencepost.Client]:
    """A client for threads."""
    if kazoo is None:
        client = fencepost.connect(url(zookeeper))
    else:
        client = fencepost.Client(kazoo, prefix=zookeeper.prefix)
    yield client
    client.close()


def restart(control: Control) -> None:
    """The server is killed, and started again with what it has stored."""
    control.do("kill zookeeper")
    control.do("start zookeeper")


async def hold_all(client: fencepost.asyncio.Client, count: int) -> list[fencepost.asyncio.Grant]:
    """As many locks, acquired at once."""
    locks = [client.lock(f"held-{number}") for number in range(count)]
    grants = await asyncio.wait_for(asyncio.gather(*(lock.acquire() for lock in locks)), PATIENT)
    return [grant for grant in grants if grant is not None]


async def test_a_burst(loop_client: fencepost.asyncio.Client) -> None:
    grants = await hold_all(loop_client, MANY)
    assert len(grants) == MANY
    await asyncio.wait_for(asyncio.gather(*(grant.release() for grant in grants)), PATIENT)


async def test_a_restart_with_all_waiting(
    loop_client: fencepost.asyncio.Client, zookeeper: ZooKeeperBackend, control: Control
) -> None:
    # In one line each of them would read a list of all.
    lines = 100
    first = await hold_all(loop_client, lines)
    turns = 0

    async def wait(line: int) -> None:
        nonlocal turns
        async with loop_client.lock(f"held-{line}"):
            turns += 1

    waiters = [asyncio.create_task(wait(number % lines)) for number in range(MANY)]

    def waiting() -> int:
        return sum(zookeeper.contenders(f"held-{line}") - 1 for line in range(lines))

    await asyncio.to_thread(wait_until, lambda: waiting() == MANY, "all are in a line", PATIENT)
    await asyncio.to_thread(restart, control)
    await asyncio.wait_for(asyncio.gather(*(grant.extend() for grant in first)), PATIENT)
    await asyncio.wait_for(asyncio.gather(*(grant.release() for grant in first)), PATIENT)
    await asyncio.wait_for(asyncio.gather(*waiters), PATIENT)
    assert turns == MANY


async def test_a_restart_with_all_held(loop_client: fencepost.asyncio.Client, control: Control) -> None:
    grants = await hold_all(loop_client, MANY)
    await asyncio.to_thread(restart, control)
    await asyncio.wait_for(asyncio.gather(*(grant.extend() for grant in grants)), PATIENT)
    assert all(grant.is_valid for grant in grants)
    await asyncio.wait_for(asyncio.gather(*(grant.release() for grant in grants)), PATIENT)


async def test_a_close_with_all_held(
    loop_client: fencepost.asyncio.Client, zookeeper: ZooKeeperBackend
) -> None:
    grants = await hold_all(loop_client, MANY)
    # On a busy machine not all is answered within the five seconds that it waits.
    with suppress(fencepost.CleanupIncomplete):
        await asyncio.wait_for(loop_client.close(), LONG)
    assert not any(grant.is_valid for grant in grants)


def test_threads_wait_through_a_restart(
    client: fencepost.Client, zookeeper: ZooKeeperBackend, control: Control
) -> None:
    lock = client.lock("line")
    turns: list[Any] = []

    def wait() -> None:
        with lock as grant:
            turns.append(grant.fence)

    first = lock.acquire()
    assert first is not None
    waiters = [threading.Thread(target=wait, daemon=True) for _ in range(THREADS)]
    for waiter in waiters:
        waiter.start()
    wait_until(lambda: zookeeper.contenders("line") == THREADS + 1, "all are in the line", PATIENT)
    restart(control)
    first.extend()
    first.release()
    for waiter in waiters:
        waiter.join(PATIENT)
    assert len(turns) == THREADS
    assert turns == sorted(turns)


def test_threads_close_with_all_held(client: fencepost.Client, zookeeper: ZooKeeperBackend) -> None:
    held: list[Any] = []

    def hold(numbers: range) -> None:
        held.extend(client.lock(f"held-{number}").acquire() for number in numbers)

    threads = [
        threading.Thread(target=hold, args=(range(first, MANY, 50),), daemon=True) for first in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENT)
    assert len(held) == MANY
    closer = threading.Thread(target=client.close, daemon=True)
    closer.start()
    closer.join(LONG)
    assert not closer.is_alive()
    assert not any(grant.is_valid for grant in held)


def test_kazoo_s_own_requests_go_out_beside_ours(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, timeout=24)
    kazoo.start()
    kazoo.ensure_path(f"/{zookeeper.prefix}/theirs")

    async def both() -> list[Any]:
        async with fencepost.asyncio.Client(kazoo, prefix=zookeeper.prefix) as client:
            ours = asyncio.gather(*(client.lock(f"held-{number}").acquire() for number in range(500)))
            await asyncio.sleep(0)
            theirs = [kazoo.get_async(f"/{zookeeper.prefix}/theirs") for _ in range(200)]
            grants = await asyncio.wait_for(ours, PATIENT)
            for each in theirs:
                await asyncio.to_thread(each.get, True, PATIENT)
            return grants

    assert len(asyncio.run(both())) == 500
    kazoo.stop()
    kazoo.close()


def test_the_classes_of_kazoo(zookeeper: ZooKeeperBackend, control: Control) -> None:
    kazoo = compat.KazooClient(hosts=zookeeper.address, timeout=24)
    kazoo.start()
    path = f"/{zookeeper.prefix}/line"
    turns: list[int] = []
    first = kazoo.Lock(path)
    first.acquire()

    def wait(number: int) -> None:
        with kazoo.Lock(path):
            turns.append(number)

    waiters = [threading.Thread(target=wait, args=(number,), daemon=True) for number in range(200)]
    for waiter in waiters:
        waiter.start()
    wait_until(lambda: zookeeper.contenders("line") == 201, "all are in the line", PATIENT)
    restart(control)
    wait_until(lambda: first.is_acquired, "it is held for certain again")
    first.release()
    for waiter in waiters:
        waiter.join(PATIENT)
    assert len(turns) == 200
    kazoo.stop()
    kazoo.close()
