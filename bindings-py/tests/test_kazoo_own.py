"""What the driver hands to kazoo: under Ctrl-C, behind acquires that have given up, and when kazoo's
connection ends by an exception of its own.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from typing import Any, NoReturn

import fencepost
import fencepost.asyncio
import pytest
from fencepost.drivers.kazoo import KazooDriver
from kazoo.client import KazooClient
from support import LONG, ZooKeeperBackend, wait_until, wait_until_async


def driver_of(client: Any) -> KazooDriver:
    """The driver of a client on ZooKeeper."""
    driver = client._driver
    found = getattr(driver, "_driver", driver)
    assert isinstance(found, KazooDriver)
    return found


class Bell:
    """The socket that wakes kazoo's thread, on which Ctrl-C comes at one of its uses."""

    def __init__(self, socket: Any, at: int, before: bool) -> None:
        self._socket = socket
        self._left = at
        self._before = before

    def send(self, *arguments: Any) -> Any:
        """Wakes the thread, or is interrupted before or after that."""
        if threading.current_thread() is not threading.main_thread():
            return self._socket.send(*arguments)
        self._left -= 1
        if self._left == 0 and self._before:
            raise KeyboardInterrupt
        sent = self._socket.send(*arguments)
        if self._left == 0:
            raise KeyboardInterrupt
        return sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2])
def test_ctrl_c_while_a_request_is_handed_over(zookeeper: ZooKeeperBackend, at: int, before: bool) -> None:
    url = zookeeper.url.replace("=4000", "=60000")
    with fencepost.connect(url) as client, fencepost.connect(url) as other:
        client.lock("warm").acquire().release()  # type: ignore[union-attr]
        connection = driver_of(client).client._connection
        bell = connection._write_sock
        connection._write_sock = Bell(bell, at, before)
        try:
            grant = client.lock("stock").acquire()
            assert grant is not None
            grant.release()
        except KeyboardInterrupt:
            pass
        connection._write_sock = bell
        # The session goes on: what it had left would lie there.
        with other.lock("stock").hold(timeout=LONG):
            pass
        with client.lock("stock").hold(timeout=LONG):
            pass


@pytest.mark.parametrize("own", [False, True], ids=["address", "own"])
def test_who_gives_up_leaves_no_watch(zookeeper: ZooKeeperBackend, own: bool) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, timeout=60)
    kazoo.start()
    client = fencepost.Client(kazoo, prefix=zookeeper.prefix) if own else fencepost.connect(zookeeper.url)
    with client, client.lock("stock").hold(timeout=LONG):
        watches = driver_of(client).tap.watches
        for _ in range(20):
            assert client.lock("stock").acquire(timeout=0.05) is None
        # The holder watches its own node.
        wait_until(lambda: len(watches) <= 1, "their watches have gone with them")
        theirs = driver_of(client).client
        assert not any(theirs._data_watchers.values())
        assert not any(theirs._child_watchers.values())
    assert len(watches) == 0
    kazoo.stop()
    kazoo.close()


class Broken:
    """A request that cannot be written, or is answered out of order: kazoo's thread ends by it."""

    type, watcher, path = 9, None, "/"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def serialize(self) -> NoReturn:
        """Raises on the connection's thread."""
        raise self._error

    def set_exception(self, error: BaseException) -> None:
        """It was not sent."""


ENDS = [RuntimeError("xids do not match"), IndexError("pop from an empty deque"), TypeError("no")]


@pytest.mark.parametrize("error", ENDS, ids=lambda error: type(error).__name__)
def test_a_client_by_address_outlives_its_connection(zookeeper: ZooKeeperBackend, error: Exception) -> None:
    with fencepost.connect(zookeeper.url.replace("=4000", "=60000")) as client:
        kazoo = driver_of(client).client
        with client.lock("held").hold(timeout=LONG) as grant:
            session = kazoo._session_id
            for _ in range(3):
                broken = Broken(error)
                kazoo._call(broken, broken)
                with client.lock("stock").hold(timeout=LONG):
                    pass
            grant.extend()
            assert grant.is_valid
            assert kazoo._session_id == session


async def test_so_does_one_for_asyncio(zookeeper: ZooKeeperBackend) -> None:
    async with fencepost.asyncio.connect(zookeeper.url.replace("=4000", "=60000")) as client:
        kazoo = driver_of(client).client
        async with client.lock("held") as grant:
            broken = Broken(ENDS[0])
            kazoo._call(broken, broken)
            async with client.lock("stock").hold(timeout=LONG):
                pass
            await asyncio.wait_for(grant.extend(), LONG)
            assert grant.is_valid


def test_numbers_go_on_in_the_next_connection(zookeeper: ZooKeeperBackend) -> None:
    with fencepost.connect(zookeeper.url.replace("=4000", "=60000")) as client:
        connection = driver_of(client).client._connection
        for _ in range(5):
            with client.lock("stock"):
                pass
        before = connection._xid
        assert before > 10
        broken = Broken(ENDS[0])
        driver_of(client).client._call(broken, broken)
        with client.lock("stock"):
            pass
        # A server may answer what it still has from before: under another number than any of these.
        assert connection._xid > before


def test_a_dropped_client_of_an_absent_server_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        client = fencepost.connect("zk://127.0.0.1:1")
        with pytest.warns(ResourceWarning):
            del client
    wait_until(lambda: not set(threading.enumerate()) - before, "their threads have ended")


async def test_nor_does_one_for_asyncio() -> None:
    before = set(threading.enumerate())
    client = fencepost.asyncio.connect("zk://127.0.0.1:1")
    with pytest.warns(ResourceWarning):
        del client
    await wait_until_async(lambda: not set(threading.enumerate()) - before, "its threads have ended")


SILENT = """
import fencepost
client = fencepost.connect("zk://127.0.0.1:1")
try:
    client.lock("stock").acquire(timeout=1)
except fencepost.Refused as error:
    print(error.name)
client.close()
"""


def test_kazoo_does_not_speak_for_a_program_without_logging() -> None:
    done = subprocess.run([sys.executable, "-c", SILENT], capture_output=True, text=True, timeout=LONG)
    assert (done.stdout, done.stderr) == ("unreachable\n", "")


def test_who_has_configured_logging_reads_kazoo(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING),
        fencepost.connect("zk://127.0.0.1:1") as client,
        pytest.raises(fencepost.Refused),
    ):
        client.lock("stock").acquire(timeout=1)
    assert any("Connection dropped" in record.getMessage() for record in caplog.records)
