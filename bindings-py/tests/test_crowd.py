"""Two thousand contenders on one ZooKeeper session: a burst, a restart of the server, a close. The client
must not block while it holds one of its own locks, or on the thread that reads the server's replies.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import pytest_asyncio
from fencepost.compat import kazoo as compat
from kazoo.client import KazooClient
from support import LONG, Control, ZooKeeperBackend, wait_until, with_session

MANY = 2000
#: The number of threads that wait, each for another lock.
THREADS = 300
#: The time limit for two thousand contenders on a busy machine, in seconds.
PATIENT = 200.0
#: The longest time of a five-second close on a busy machine, in seconds.
CLOSE = 20.0
#: A session, in seconds, that outlives a restart, even on a busy machine.
SESSION = 120
#: The same for the program's own KazooClient. It starts after the fencepost client exists: the first
#: grant in an older session waits for a quarter of the session's timeout.
OWN_SESSION = 48
#: If a starting server accepts a connection and does not reply, kazoo waits for a session timeout divided
#: by the number of hosts.
HOSTS = 12

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(params=["address", "own"])
def kazoo(request: pytest.FixtureRequest, zookeeper: ZooKeeperBackend) -> Iterator[KazooClient | None]:
    """The program's own KazooClient, not started yet. None: the test makes the client by address."""
    if request.param == "address":
        yield None
        return
    kazoo = KazooClient(hosts=own_hosts(zookeeper), timeout=OWN_SESSION)
    yield kazoo
    kazoo.stop()
    kazoo.close()


def own_hosts(zookeeper: ZooKeeperBackend) -> str:
    """The hosts of the program's own KazooClient."""
    return ",".join([zookeeper.address] * HOSTS)


def url(zookeeper: ZooKeeperBackend) -> str:
    """An address with a session that outlives a restart."""
    return with_session(zookeeper.url, SESSION * 1000)


@pytest_asyncio.fixture
async def loop_client(
    zookeeper: ZooKeeperBackend, kazoo: KazooClient | None
) -> AsyncIterator[fencepost.asyncio.Client]:
    """A client for asyncio."""
    if kazoo is None:
        client = fencepost.asyncio.connect(url(zookeeper))
    else:
        client = fencepost.asyncio.Client(kazoo, prefix=zookeeper.prefix)
        await asyncio.to_thread(kazoo.start)
    yield client
    await client.close()


@pytest.fixture
def client(zookeeper: ZooKeeperBackend, kazoo: KazooClient | None) -> Iterator[fencepost.Client]:
    """A client for threads."""
    if kazoo is None:
        client = fencepost.connect(url(zookeeper))
    else:
        client = fencepost.Client(kazoo, prefix=zookeeper.prefix)
        kazoo.start()
    yield client
    client.close()


def restart(control: Control) -> None:
    """Kills the server, and starts it again with its stored data."""
    control.do("kill zookeeper")
    control.do("start zookeeper")


def check_that_nothing_is_left(zookeeper: ZooKeeperBackend, kazoo: KazooClient | None) -> None:
    """The server deletes the remaining nodes with the session, which ends with the connection."""
    if kazoo is not None:
        kazoo.stop()

    def left() -> int:
        return sum(zookeeper.contenders(f"held-{number}") for number in range(MANY))

    wait_until(lambda: left() == 0, "nothing is left", PATIENT)


async def release_all(grants: list[fencepost.asyncio.Grant]) -> None:
    """Releases all at once. A busy server may confirm later than a release waits. Then the client continues
    in the background.
    """
    released = asyncio.gather(*(grant.release() for grant in grants), return_exceptions=True)
    for result in await asyncio.wait_for(released, PATIENT):
        assert result is None or isinstance(result, fencepost.ReleaseUnconfirmed)


def release(grant: Any) -> None:
    """Releases one grant of a client for threads. A busy server may confirm later, too."""
    with suppress(fencepost.ReleaseUnconfirmed):
        grant.release()


async def hold_all(client: fencepost.asyncio.Client, count: int) -> list[fencepost.asyncio.Grant]:
    """Acquires ``count`` locks at once."""
    locks = [client.lock(f"held-{number}") for number in range(count)]
    grants = await asyncio.wait_for(asyncio.gather(*(lock.acquire() for lock in locks)), PATIENT)
    return [grant for grant in grants if grant is not None]


async def test_a_burst(loop_client: fencepost.asyncio.Client) -> None:
    grants = await hold_all(loop_client, MANY)
    assert len(grants) == MANY
    await release_all(grants)


async def test_a_restart_with_all_waiting(
    loop_client: fencepost.asyncio.Client, zookeeper: ZooKeeperBackend, control: Control
) -> None:
    # In a single queue each contender would read a list of all contenders.
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
    await release_all(first)
    await asyncio.wait_for(asyncio.gather(*waiters), PATIENT)
    assert turns == MANY


async def test_a_restart_with_all_held(loop_client: fencepost.asyncio.Client, control: Control) -> None:
    grants = await hold_all(loop_client, MANY)
    await asyncio.to_thread(restart, control)
    await asyncio.wait_for(asyncio.gather(*(grant.extend() for grant in grants)), PATIENT)
    assert all(grant.is_valid for grant in grants)
    await release_all(grants)


async def test_a_close_with_all_held(
    loop_client: fencepost.asyncio.Client, zookeeper: ZooKeeperBackend, kazoo: KazooClient | None
) -> None:
    grants = await hold_all(loop_client, MANY)
    start = time.monotonic()
    # On a busy machine the server does not reply to all requests within the five seconds of a close.
    with suppress(fencepost.CleanupIncomplete):
        await asyncio.wait_for(loop_client.close(), LONG)
    assert time.monotonic() - start < CLOSE
    assert not any(grant.is_valid for grant in grants)
    await asyncio.to_thread(check_that_nothing_is_left, zookeeper, kazoo)


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
    release(first)
    for waiter in waiters:
        waiter.join(PATIENT)
    assert len(turns) == THREADS
    assert turns == sorted(turns)


def in_threads(work: Callable[[int], object]) -> None:
    """Calls ``work`` with each number, in 50 threads."""

    def each(numbers: range) -> None:
        for number in numbers:
            work(number)

    threads = [
        threading.Thread(target=each, args=(range(first, MANY, 50),), daemon=True) for first in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENT)
    assert not any(thread.is_alive() for thread in threads)


def hold_all_in_threads(client: fencepost.Client) -> list[Any]:
    """Acquires MANY locks in threads."""
    held: list[Any] = []
    in_threads(lambda number: held.append(client.lock(f"held-{number}").acquire()))
    assert len(held) == MANY
    return held


def test_threads_hold_all_through_a_restart(client: fencepost.Client, control: Control) -> None:
    held = hold_all_in_threads(client)
    restart(control)
    in_threads(lambda number: held[number].extend())
    assert all(grant.is_valid for grant in held)
    in_threads(lambda number: release(held[number]))


def test_threads_close_with_all_held(
    client: fencepost.Client, zookeeper: ZooKeeperBackend, kazoo: KazooClient | None
) -> None:
    held = hold_all_in_threads(client)

    def close() -> None:
        with suppress(fencepost.CleanupIncomplete):
            client.close()

    closer = threading.Thread(target=close, daemon=True)
    start = time.monotonic()
    closer.start()
    closer.join(LONG)
    assert time.monotonic() - start < CLOSE
    assert not any(grant.is_valid for grant in held)
    check_that_nothing_is_left(zookeeper, kazoo)


def test_kazoo_s_own_requests_go_out_beside_ours(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=own_hosts(zookeeper), timeout=OWN_SESSION)
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
    kazoo = compat.KazooClient(hosts=own_hosts(zookeeper), timeout=OWN_SESSION)
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
    wait_until(lambda: first.is_acquired, "it is held for certain again", PATIENT)
    first.release()
    for waiter in waiters:
        waiter.join(PATIENT)
    assert len(turns) == 200
    kazoo.stop()
    kazoo.close()
