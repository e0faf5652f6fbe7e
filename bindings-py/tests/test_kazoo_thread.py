"""Kazoo's connection thread ends unexpectedly: waiters and holders get an error, and no call hangs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import fencepost
import fencepost.asyncio
import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState
from support import BRIEF, LONG, Control, ZooKeeperBackend, wait_until, wait_until_async

#: These tests need an exception in kazoo's thread that no code catches.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

#: No host has such a name, and its resolution raises an exception that kazoo does not expect.
NO_HOST = f"{'a' * 70}:2181"


class Broken:
    """A request that cannot be written."""

    type, watcher, path = 9, None, "/"

    def serialize(self) -> NoReturn:
        """Raises on the connection's thread."""
        raise IndexError("pop from an empty deque")

    def set_exception(self, error: BaseException) -> None:
        """The request was not sent."""


def break_a_request(kazoo: KazooClient, control: Control) -> None:
    """Causes an exception in kazoo's loop itself."""
    broken = Broken()
    kazoo._call(broken, broken)


def expire(kazoo: KazooClient, control: Control) -> None:
    """Causes a change of state, which calls the listeners."""
    session, password = kazoo.client_id
    control.do(f"expire zookeeper {session} {password.hex()}")


def leave(state: str) -> None:
    """A listener that ends the thread of its caller as soon as there is no connection."""
    if state != KazooState.CONNECTED:
        raise SystemExit


DEATHS = [
    pytest.param(break_a_request, False, id="exception"),
    pytest.param(break_a_request, True, id="exception-listener"),
    pytest.param(expire, True, id="expired-listener"),
]
Die = Callable[[KazooClient, Control], None]


@pytest.fixture
def kazoo(zookeeper: ZooKeeperBackend, listens: bool) -> Iterator[KazooClient]:
    """The program's own client, perhaps with a listener before ours."""
    kazoo = KazooClient(hosts=zookeeper.address, timeout=10)
    if listens:
        kazoo.add_listener(leave)
    kazoo.start()
    yield kazoo
    kazoo.stop()
    kazoo.close()


def is_over(kazoo: KazooClient) -> bool:
    """Whether the thread has ended."""
    return not kazoo._connection._connection_routine.is_alive()


@pytest.mark.parametrize(("die", "listens"), DEATHS)
def test_the_thread_ends(zookeeper: ZooKeeperBackend, control: Control, kazoo: KazooClient, die: Die) -> None:
    name = zookeeper.name()
    client = fencepost.Client(kazoo, prefix=zookeeper.prefix)
    with fencepost.connect(zookeeper.url) as others, others.lock(name):
        held = client.lock(f"{name}-held").acquire()
        assert held is not None
        results: list[Any] = []

        def wait() -> None:
            try:
                results.append(client.lock(name).acquire())
            except fencepost.FencepostError as error:
                results.append(error)

        waiter = threading.Thread(target=wait)
        waiter.start()
        wait_until(lambda: zookeeper.contenders(name) == 2, "it stands in the line")
        die(kazoo, control)
        waiter.join(LONG)
        assert [getattr(error, "name", error) for error in results] == ["connection-closed"]
        assert held.lost.wait(LONG)
        assert not held.is_valid
        wait_until(lambda: is_over(kazoo), "the thread has ended")
        for acquire in (client.lock(name).acquire, client.lock(f"{name}-new").acquire):
            with pytest.raises(fencepost.Refused) as error:
                acquire()
            assert error.value.name == "connection-closed"
        with pytest.raises(fencepost.LockLost):
            held.release()
    client.close()


@pytest.mark.parametrize(("die", "listens"), DEATHS)
async def test_the_thread_ends_below_a_loop(
    zookeeper: ZooKeeperBackend, control: Control, kazoo: KazooClient, die: Die
) -> None:
    name = zookeeper.name()
    client = fencepost.asyncio.Client(kazoo, prefix=zookeeper.prefix)
    with fencepost.connect(zookeeper.url) as others, others.lock(name):
        held = await client.lock(f"{name}-held").acquire()
        assert held is not None
        waiter = asyncio.create_task(client.lock(name).acquire())
        await wait_until_async(lambda: zookeeper.contenders(name) == 2, "it stands in the line")
        die(kazoo, control)
        with pytest.raises(fencepost.Refused) as error:
            await asyncio.wait_for(waiter, LONG)
        assert error.value.name == "connection-closed"
        await asyncio.wait_for(held.lost.wait(), LONG)
        with pytest.raises(fencepost.Refused) as error:
            await asyncio.wait_for(client.lock(f"{name}-new").acquire(), LONG)
        assert error.value.name == "connection-closed"
    await client.close()


@pytest.mark.parametrize("made", ["before", "in the listener"])
def test_a_listener_cannot_wait(zookeeper: ZooKeeperBackend, made: str) -> None:
    """It runs on the thread that would have to read the reply."""
    kazoo = KazooClient(hosts=zookeeper.address, timeout=10)
    clients = [fencepost.Client(kazoo)] if made == "before" else []
    errors: list[str] = []

    def acquire(state: str) -> None:
        if not clients:
            clients.append(fencepost.Client(kazoo))
        try:
            clients[0].lock("stock").acquire(timeout=BRIEF)
        except fencepost.FencepostError as error:
            errors.append(error.name)

    kazoo.add_listener(acquire)
    kazoo.start()
    wait_until(lambda: errors, "it has listened")
    assert errors == ["cannot-wait"]
    kazoo.remove_listener(acquire)
    clients[0].close()
    kazoo.stop()
    kazoo.close()


def test_the_thread_ends_before_it_was_ever_connected() -> None:
    kazoo = KazooClient(hosts=NO_HOST)
    client = fencepost.Client(kazoo)
    kazoo.start_async()
    for acquire in (client.lock("a").acquire, client.lock("a").acquire):
        with pytest.raises(fencepost.Refused) as error:
            acquire()
        assert error.value.name == "connection-closed"
    client.close()
    kazoo.stop()
    kazoo.close()


async def test_it_ends_so_below_a_loop_too() -> None:
    kazoo = KazooClient(hosts=NO_HOST)
    async with fencepost.asyncio.Client(kazoo) as client:
        kazoo.start_async()
        with pytest.raises(fencepost.Refused) as error:
            await asyncio.wait_for(client.lock("a").acquire(), LONG)
        assert error.value.name == "connection-closed"
    kazoo.stop()
    kazoo.close()


@pytest.mark.parametrize(("die", "listens"), DEATHS[:1])
def test_a_client_that_is_started_again_takes_another_one_of_ours(
    zookeeper: ZooKeeperBackend, control: Control, kazoo: KazooClient, die: Die
) -> None:
    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:
        die(kazoo, control)
        wait_until(lambda: is_over(kazoo), "the thread has ended")
        with pytest.raises(fencepost.Refused):
            client.lock(zookeeper.name()).acquire()
    # Without a stop: kazoo would send the closing request of an ended thread in the next session.
    kazoo.start()
    with (
        fencepost.Client(kazoo, prefix=zookeeper.prefix) as client,
        client.lock(zookeeper.name()).hold(timeout=LONG) as grant,
    ):
        assert grant.is_valid
