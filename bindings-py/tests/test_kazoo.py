"""The driver for kazoo: its table of errors, and a client that the program already has."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from fencepost.compat import kazoo as ours
from fencepost.drivers.kazoo import failure
from fencepost.drivers.kazoo_handler import PollHandler
from kazoo.client import KazooClient
from kazoo.exceptions import (
    EXCEPTIONS,
    AuthFailedError,
    ConnectionClosedError,
    ConnectionLoss,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    OperationTimeoutError,
    SessionExpiredError,
    SessionMovedError,
    UnimplementedError,
)
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import make_acl, make_digest_acl
from support import BRIEF, LONG, Control, ZooKeeperBackend, requests, wait_until, with_session


@pytest.mark.parametrize(
    ("error", "unsent", "sent"),
    [
        (ConnectionLoss(), "not-sent", "unknown"),
        (SessionExpiredError(), "closed", "unknown"),
        (AuthFailedError(), "closed", "unknown"),
        (ConnectionClosedError(), "closed", "unknown"),
        (OSError("of the socket"), "not-sent", "unknown"),
        (ValueError("of a reply that cannot be read"), "not-sent", "unknown"),
        (NoNodeError(), -101, -101),
        (NoAuthError(), -102, -102),
        (NodeExistsError(), -110, -110),
        (SessionMovedError(), -118, -118),
        (OperationTimeoutError(), -7, -7),
        (UnimplementedError(), -6, -6),
    ],
)
def test_errors(error: Exception, unsent: str | int, sent: str | int) -> None:
    assert failure(error, False) == unsent
    assert failure(error, True) == sent


def test_no_code_of_the_protocol_is_unknown_to_kazoo() -> None:
    for code in range(-128, -99):
        assert EXCEPTIONS[code]().code == code


def traces(client: Any) -> list[str]:
    """The hooks and listeners that a KazooClient does not have by itself."""
    own = set(KazooClient(hosts="127.0.0.1:1").__dict__["_connection"].__dict__)
    found = [f"connection.{name}" for name in client._connection.__dict__ if name not in own]
    found += [f"listener {listener}" for listener in client.state_listeners]
    found += [name for name in client.__dict__ if "fencepost" in name]
    hooked = ("_session_callback", "_make_state_change", "_call")
    found += [name for name in hooked if name in client.__dict__]
    if "dispatch_callback" in client.handler.__dict__:
        found.append("dispatch_callback")
    for watchers in [*client._data_watchers.values(), *client._child_watchers.values()]:
        found += [
            f"watcher {watcher}" for watcher in watchers if type(watcher).__module__.startswith("fencepost")
        ]
    return found


@pytest.mark.parametrize("handler", [None, PollHandler])
def test_a_client_of_the_caller_s_own(zookeeper: ZooKeeperBackend, handler: Any) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, timeout=10, handler=handler and handler())
    kazoo.start()
    seen: list[str] = []
    kazoo.add_listener(lambda state: seen.append(state))
    before = traces(kazoo)
    clients = [fencepost.Client(kazoo, prefix=zookeeper.prefix) for _ in range(2)]
    locks = [client.lock(zookeeper.name()) for client in clients]
    with locks[0] as grant:
        remaining = grant.remaining()
        assert remaining is not None
        # Kazoo itself knows only the timeout that it has requested.
        assert remaining <= 10
        assert locks[1].acquire(timeout=BRIEF) is None
        kazoo.set(f"/{zookeeper.prefix}", b"the caller goes on using it")
    clients[0].close()
    with locks[1].hold(timeout=LONG):
        pass
    clients[1].close()
    assert traces(kazoo) == before
    assert kazoo.connected
    assert seen == []
    kazoo.stop()
    kazoo.close()


def test_a_client_with_a_chroot(zookeeper: ZooKeeperBackend) -> None:
    zookeeper.client.ensure_path(f"/{zookeeper.prefix}")
    kazoo = KazooClient(hosts=f"{zookeeper.address}/{zookeeper.prefix}")
    kazoo.start()
    with fencepost.Client(kazoo) as client, client.lock(zookeeper.name()) as grant:
        assert grant.is_valid
        assert zookeeper.contenders(zookeeper.name()) == 1
        waited = client.lock(zookeeper.name()).acquire(timeout=BRIEF)
        assert waited is None
    kazoo.stop()
    kazoo.close()


def test_a_chroot_that_does_not_exist(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=f"{zookeeper.address}/{zookeeper.prefix}/missing")
    kazoo.start_async().wait(LONG)
    with fencepost.Client(kazoo) as client, pytest.raises(fencepost.Refused) as error:
        client.lock("stock").acquire()
    assert error.value.name == "no-parent"
    kazoo.stop()
    kazoo.close()


def test_a_client_that_is_closed(zookeeper: ZooKeeperBackend) -> None:
    never = KazooClient(hosts=zookeeper.address)
    says = r"the KazooClient is not started: call its start\(\)$"
    with fencepost.Client(never, prefix=zookeeper.prefix) as client:
        with pytest.raises(fencepost.Refused, match=says) as error:
            client.lock("stock").acquire()
        assert (error.value.code, error.value.name) == (313, "connection-closed")
        never.start_async()
        with client.lock(zookeeper.name()).hold(timeout=LONG):
            pass
    never.stop()

    stopped = KazooClient(hosts=zookeeper.address)
    stopped.start()
    client = fencepost.Client(stopped, prefix=zookeeper.prefix)
    lost = pytest.raises(fencepost.LockLost)
    with lost as loss, client.lock(zookeeper.name()) as grant:
        stopped.stop()
        assert grant.lost.wait(LONG)
    assert loss.value.name == "lost-connection-closed"
    with pytest.raises(fencepost.Refused) as closed:
        client.lock(zookeeper.name()).acquire()
    assert closed.value.name == "connection-closed"
    # The program may start it again.
    stopped.start_async()
    with client.lock(zookeeper.name()).hold(timeout=LONG):
        pass
    client.close()
    stopped.stop()
    stopped.close()
    never.close()


def test_a_stop_wakes_a_waiter(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=zookeeper.address)
    kazoo.start()
    client = fencepost.Client(kazoo, prefix=zookeeper.prefix)
    holder = client.lock(zookeeper.name()).acquire()
    assert holder is not None
    errors: list[fencepost.FencepostError] = []

    def wait() -> None:
        try:
            client.lock(zookeeper.name()).acquire()
        except fencepost.FencepostError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: zookeeper.contenders(zookeeper.name()) == 2, "it waits")
    kazoo.stop()
    thread.join(LONG)
    assert [error.name for error in errors] == ["connection-closed"]
    client.close()
    kazoo.close()


def test_credentials_that_are_refused(zookeeper: ZooKeeperBackend) -> None:
    kazoo = KazooClient(hosts=zookeeper.address, auth_data=[("no such scheme", "x")])
    seen: list[str] = []
    with fencepost.Client(kazoo) as client:
        kazoo.add_listener(lambda state: seen.append(state))
        kazoo.start_async()
        wait_until(lambda: seen == ["CONNECTED", "LOST"], "the server has refused")
        with pytest.raises(fencepost.Refused) as error:
            client.lock("stock").acquire()
    assert (error.value.code, error.value.name) == (306, "auth-failed")
    kazoo.stop()
    kazoo.close()


def test_no_permission(zookeeper: ZooKeeperBackend) -> None:
    directory = zookeeper.directory(zookeeper.name())
    zookeeper.client.ensure_path(directory.rpartition("/")[0])
    zookeeper.client.create(directory, acl=[make_acl("world", "anyone", read=True)])
    with fencepost.connect(zookeeper.url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock(zookeeper.name()).acquire()
    assert (error.value.code, error.value.name) == (305, "no-permission")
    assert isinstance(error.value.__cause__, NoAuthError)


@pytest.mark.parametrize("when", ["constructor", "before start", "after an acquire"])
@pytest.mark.parametrize("compat", [False, True], ids=["client", "compat"])
def test_the_caller_s_acl(zookeeper: ZooKeeperBackend, compat: bool, when: str) -> None:
    acl = make_digest_acl("me", "mine", all=True)
    make = ours.KazooClient if compat else KazooClient
    given = {"default_acl": [acl]} if when == "constructor" else {}
    kazoo = make(hosts=zookeeper.address, auth_data=[("digest", "me:mine")], **given)
    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:

        def lock(name: str) -> Any:
            return kazoo.Lock(zookeeper.directory(name)) if compat else client.lock(name)

        if when == "before start":
            kazoo.default_acl = [acl]
        kazoo.start()
        if when == "after an acquire":
            with lock("before"):
                pass
            kazoo.default_acl = [acl]
        with lock("stock"):
            directory = zookeeper.directory("stock")
            for path in (directory, f"{directory}/{kazoo.get_children(directory)[0]}"):
                assert kazoo.get_acls(path)[0] == [acl]
    kazoo.delete(f"/{zookeeper.prefix}", recursive=True)
    kazoo.stop()
    kazoo.close()


def test_a_login_while_requests_are_in_flight(zookeeper: ZooKeeperBackend) -> None:
    """ZooKeeper replies to the login before it replies to them."""
    kazoo = KazooClient(hosts=zookeeper.address, timeout=60)
    kazoo.start()
    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:
        for user in range(50):
            asked = [kazoo.sync_async("/") for _ in range(20)]
            assert kazoo.add_auth_async("digest", f"u{user}:secret").get(timeout=LONG) is True
            assert [each.get(timeout=LONG) for each in asked] == ["/"] * 20
        with client.lock(zookeeper.name()).hold(timeout=LONG):
            pass
    kazoo.stop()
    kazoo.close()


@pytest.mark.parametrize("compat", [False, True], ids=["client", "compat"])
def test_an_acquire_right_after_a_start(zookeeper: ZooKeeperBackend, compat: bool) -> None:
    """Kazoo calls its listeners after ``start`` has returned, in any order."""
    make = ours.KazooClient if compat else KazooClient
    kazoo = make(hosts=zookeeper.address, timeout=10)
    for seconds in (0.01, 0.02, 0.03, 0.04):
        kazoo.add_listener(lambda state, seconds=seconds: time.sleep(seconds))
    with fencepost.Client(kazoo, prefix=zookeeper.prefix) as client:
        for start in (kazoo.start, kazoo.restart, kazoo.restart):
            start()
            with kazoo.Lock(zookeeper.directory("stock")) if compat else client.lock("stock"):
                pass
    kazoo.stop()
    kazoo.close()


@pytest.mark.parametrize("child", ["notes", "lock-", "lock-12", "config__lock__", "ü"])
def test_a_child_that_is_no_contender(zookeeper: ZooKeeperBackend, child: str) -> None:
    zookeeper.client.create(f"{zookeeper.directory(zookeeper.name())}/{child}", makepath=True)
    with fencepost.connect(zookeeper.url) as client, client.lock(zookeeper.name()).hold(timeout=LONG):
        pass


def test_requests_on_the_wire(zookeeper: ZooKeeperBackend, control: Control) -> None:
    proxy = control.do("proxy zookeeper")
    url = with_session(zookeeper.at(proxy["address"]), 60000)
    with fencepost.connect(url) as client:
        counts = requests(control, proxy, client.lock(zookeeper.name()))
    kinds = {kind: number for kind, number in counts.items() if kind not in ("ping", "sync")}
    assert sum(kinds.values()) == 15
    assert kinds["delete"] == 5


def test_an_ensemble(ensemble: tuple[str, Control]) -> None:
    addresses, control = ensemble
    with fencepost.connect(f"zk://{addresses}?session_timeout=30000") as client:
        lock = client.lock("stock")
        with lock.hold(timeout=LONG) as grant:
            leader = control.do("leader")["name"]
            control.do(f"kill {leader}")
            wait_until(lambda: not grant.is_valid or grant.lost.is_set(), "the leader's end is noticed")
            wait_until(lambda: grant.is_valid or grant.lost.is_set(), "another member leads")
            assert not grant.lost.is_set()
        with lock.hold(timeout=LONG):
            pass
        control.do(f"start {leader}")
        with lock:
            pass


@pytest.mark.parametrize("make", [fencepost.Client, fencepost.asyncio.Client])
async def test_a_client_with_another_handler(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For example, the handler for gevent. The refusal leaves no thread, and no timer that fails later."""

    class OfGevent:
        """Only its type matters."""

        def __getattr__(self, name: str) -> Any:
            return getattr(SequentialThreadingHandler, name)

    failed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    kazoo = KazooClient("127.0.0.1:1")
    kazoo.handler = OfGevent()
    before = set(threading.enumerate())
    with pytest.raises(fencepost.ConfigError, match="its handler is a OfGevent"):
        make(kazoo)
    gc.collect()
    for thread in set(threading.enumerate()) - before:
        thread.join(LONG)
    assert not failed
    assert set(threading.enumerate()) <= before
