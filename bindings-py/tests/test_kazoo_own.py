"""The driver's use of kazoo: under Ctrl-C, after acquires that have given up, and when kazoo's own exception
ends its connection.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time
from typing import Any, NoReturn

import fencepost
import fencepost.asyncio
import pytest
from fencepost.drivers.kazoo import KazooDriver
from kazoo.client import KazooClient
from relay import Relay, relayed
from support import BRIEF, LONG, Control, ZooKeeperBackend, wait_until, wait_until_async, with_session


def driver_of(client: Any) -> KazooDriver:
    """The driver of a client on ZooKeeper."""
    driver = client._driver
    found = getattr(driver, "_driver", driver)
    assert isinstance(found, KazooDriver)
    return found


class WakeSocket:
    """The socket that wakes kazoo's thread. Ctrl-C interrupts one of its uses."""

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
    url = with_session(zookeeper.url, 60000)
    with fencepost.connect(url) as client, fencepost.connect(url) as other:
        client.lock("warm").acquire().release()  # type: ignore[union-attr]
        connection = driver_of(client).client._connection
        wake_socket = connection._write_sock
        connection._write_sock = WakeSocket(wake_socket, at, before)
        try:
            grant = client.lock("stock").acquire()
            assert grant is not None
            grant.release()
        except KeyboardInterrupt:
            pass
        connection._write_sock = wake_socket
        # The session continues, so a node that the acquire had left would still exist.
        with other.lock("stock").hold(timeout=LONG):
            pass
        with client.lock("stock").hold(timeout=LONG):
            pass


@pytest.mark.parametrize("kind", ["data", "list"])
@pytest.mark.parametrize("own", [False, True], ids=["address", "own"])
def test_a_waiter_that_gives_up_leaves_no_watch(zookeeper: ZooKeeperBackend, own: bool, kind: str) -> None:
    """A lock's waiter watches the node before its own. The first waiter of a semaphore watches the list of
    permits.
    """
    kazoo = KazooClient(hosts=zookeeper.address, timeout=20)
    kazoo.start()
    client = (
        fencepost.Client(kazoo, prefix=zookeeper.prefix)
        if own
        else fencepost.connect(with_session(zookeeper.url, 20000))
    )
    with client:
        lock = client.lock("stock") if kind == "data" else client.semaphore("presses", 1)
        with lock.hold(timeout=LONG):
            watches = driver_of(client).hooks.watches
            for _ in range(3):
                assert lock.acquire(timeout=BRIEF) is None
            # The holder watches its own node.
            wait_until(lambda: len(watches) <= 1, "their watches have gone with them")
            theirs = driver_of(client).client
            assert not any(theirs._data_watchers.values())
            assert not any(theirs._child_watchers.values())
        assert len(watches) == 0
    kazoo.stop()
    kazoo.close()


class Broken:
    """A request that cannot be written, or whose reply is out of order: it ends kazoo's thread."""

    type, watcher, path = 9, None, "/"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def serialize(self) -> NoReturn:
        """Raises on the connection's thread."""
        raise self._error

    def set_exception(self, error: BaseException) -> None:
        """The request was not sent."""


ENDS = [RuntimeError("xids do not match"), IndexError("pop from an empty deque"), TypeError("no")]


@pytest.mark.parametrize("error", ENDS, ids=lambda error: type(error).__name__)
def test_a_client_by_address_outlives_its_connection(zookeeper: ZooKeeperBackend, error: Exception) -> None:
    with fencepost.connect(with_session(zookeeper.url, 60000)) as client:
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
    async with fencepost.asyncio.connect(with_session(zookeeper.url, 60000)) as client:
        kazoo = driver_of(client).client
        async with client.lock("held") as grant:
            broken = Broken(ENDS[0])
            kazoo._call(broken, broken)
            async with client.lock("stock").hold(timeout=LONG):
                pass
            await asyncio.wait_for(grant.extend(), LONG)
            assert grant.is_valid


def test_numbers_go_on_in_the_next_connection(zookeeper: ZooKeeperBackend) -> None:
    with fencepost.connect(with_session(zookeeper.url, 60000)) as client:
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
        # A server may still reply to earlier requests. Their numbers must differ from those of the new
        # requests.
        assert connection._xid > before


@pytest.mark.parametrize("unanswered", [1, 2])
def test_an_unanswered_handshake_costs_no_grant(
    zookeeper: ZooKeeperBackend, control: Control, unanswered: int
) -> None:
    """The same as tests/interop/tests/test_unanswered.py, in this process."""
    proxy = control.do("proxy zookeeper")
    url = with_session(zookeeper.at(proxy["address"]), 10000)
    with fencepost.connect(url) as client, client.lock("held").hold(timeout=LONG) as grant:
        control.do(f"proxy-ignore {proxy['id']} {unanswered}")
        control.do(f"proxy-cut {proxy['id']}")
        control.do(f"proxy-heal {proxy['id']}")
        # Kazoo itself would wait for ten seconds, and the rest of the lease is less than seven.
        grant.extend()
        assert control.do("list")["proxies"][-1]["ignores"] == 0
    control.do(f"proxy-close {proxy['id']}")


#: A probe of the session: `sync`, or a `multi` of one check, of "/". Two are sent in every third of the
#: timeout.
PROBES = (b"\0\0\0\x09\0\0\0\x01/", b"\0\0\0\x0e\0\0\0\x0d")


def probes(relay: Relay) -> int:
    """How many probes the client has sent through this relay."""
    return sum(pipe.sent.count(probe) for pipe in relay.pipes for probe in PROBES)


def between(relays: list[Relay]) -> Relay:
    """The one of two relays that the client is connected through."""
    (found,) = (relay for relay in relays if relay.carries())
    return found


#: When a server stops replying, in seconds after a probe. The next probe follows after 3.3 seconds.
PHASES = (0.0, 1.6, 3.0)


@pytest.mark.parametrize("phase", PHASES)
def test_a_silent_server_costs_no_grant(zookeeper: ZooKeeperBackend, phase: float) -> None:
    with relayed(zookeeper.address) as one, relayed(zookeeper.address) as other:
        url = with_session(zookeeper.at(f"{one.address},{other.address}"), 10000)
        with fencepost.connect(url) as client, client.lock("stock").hold(timeout=LONG) as grant:
            silent = between([one, other])
            before = probes(silent)
            wait_until(lambda: probes(silent) >= before + 2, "it was probed while it held")
            time.sleep(phase)
            silent.fall_silent()
            # Without another connection the session itself would have ended.
            time.sleep(15)
            assert not grant.lost.is_set()
            assert grant.is_valid
            assert between([one, other]) is not silent
            # Kazoo shuffles the servers.
            connection = driver_of(client).client._connection
            last = {connection._expand_client_hosts()[-1][2] for _ in range(20)}
            assert last == {int(silent.address.rpartition(":")[2])}
        assert zookeeper.children("stock") == []


async def keeps_its_grant(zookeeper: ZooKeeperBackend, phase: float) -> None:
    """The same on a loop, with its own lock."""
    with relayed(zookeeper.address) as one, relayed(zookeeper.address) as other:
        url = with_session(zookeeper.at(f"{one.address},{other.address}"), 10000)
        async with fencepost.asyncio.connect(url) as client, client.lock(f"stock{phase}") as grant:
            silent = between([one, other])
            before = probes(silent)
            await wait_until_async(lambda: probes(silent) >= before + 2, "it was probed while it held")
            await asyncio.sleep(phase)
            silent.fall_silent()
            await asyncio.sleep(15)
            assert not grant.lost.is_set()
            assert grant.is_valid
            assert between([one, other]) is not silent
        assert zookeeper.children(f"stock{phase}") == []


async def test_nor_below_a_loop(zookeeper: ZooKeeperBackend) -> None:
    await asyncio.gather(*(keeps_its_grant(zookeeper, phase) for phase in PHASES))


def test_a_slow_server_is_kept(zookeeper: ZooKeeperBackend, control: Control) -> None:
    """Each reply takes longer than an eighth of the session's timeout. The client reconnects once, not in
    every third of the timeout.
    """
    proxy = control.do(f"proxy {zookeeper.server}")
    control.do(f"proxy-slow {proxy['id']} 1000")
    url = with_session(zookeeper.at(proxy["address"]), 6000)
    with fencepost.connect(url, connect_timeout=LONG) as client:
        for _ in range(3):
            with client.lock("stock").hold(timeout=LONG):
                pass


def test_a_connection_of_the_program_s_stays(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, timeout=60)
    kazoo.start()
    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:
        states: list[str] = []
        kazoo.add_listener(states.append)
        # Its server is silent for longer than an eighth of the timeout: the hub requests another connection.
        driver_of(client).submit(Reconnect())  # type: ignore[arg-type]
        with client.lock("stock").hold(timeout=LONG):
            pass
        assert states == []
    kazoo.stop()
    kazoo.close()


class Reconnect:
    """The command."""

    operation = "reconnect"


async def test_an_ipv6_address(zookeeper: ZooKeeperBackend) -> None:
    with relayed(zookeeper.address, "::1") as relay:
        url = zookeeper.at(relay.address)
        assert url.startswith("zk://[::1]:")
        with fencepost.connect(url) as client, client.lock("stock").hold(timeout=LONG) as grant:
            assert grant.is_valid
        async with (
            fencepost.asyncio.connect(url) as aclient,
            aclient.lock("stock").hold(timeout=LONG) as held,
        ):
            assert held.is_valid


def test_an_ipv6_address_is_shown_as_it_is_written() -> None:
    with fencepost.connect("zk://[::1]:1,127.0.0.1:2/shop") as client:
        assert repr(client) == "<fencepost.Client of zk://[::1]:1,127.0.0.1:2>"


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


def test_configured_logging_shows_the_records_of_kazoo(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING),
        fencepost.connect("zk://127.0.0.1:1") as client,
    ):
        with pytest.raises(fencepost.Refused):
            client.lock("stock").acquire(timeout=1)
        wait_until(lambda: "Connection dropped" in caplog.text, "kazoo has tried to connect")
