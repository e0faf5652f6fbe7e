"""The operations of the driver for kazoo, one by one, against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from queue import Queue
from typing import Any, cast

import pytest
from fencepost._engine.engine import Engine
from fencepost.drivers.kazoo import KazooDriver
from kazoo.client import KazooClient
from support import LONG, ZooKeeperBackend

EPHEMERAL_SEQUENTIAL, CONTAINER, WATCH, EPHEMERAL = 1, 2, 4, 8
NO_NODE, BAD_VERSION, NODE_EXISTS, NOT_EMPTY = -101, -103, -110, -111
ANY = -1


@dataclass
class Order:
    """A command, as a hub outputs it."""

    id: int
    operation: str
    path: str = ""
    data: bytes = b""
    flags: int = 0
    parts: tuple[tuple[str, str, bytes, int, int], ...] = ()
    key: int = 0


class Recorder:
    """Replaces a hub, and records what it receives."""

    def __init__(self) -> None:
        self.received: Queue[tuple[Any, ...]] = Queue()

    def __getattr__(self, verb: str) -> Any:
        return lambda now, *arguments: self.received.put((verb, *arguments))

    def drain(self, into: list[object]) -> None:
        """Outputs nothing."""

    def serves(self, key: int) -> bool:
        """Returns True, so that the watches are kept."""
        return True


class NoTimer:
    """Replaces a timer."""

    def schedule(self, until: int | None) -> None:
        """See Timer."""

    def ensure(self) -> None:
        """See Timer."""

    def wake(self) -> None:
        """See Timer."""

    def stop(self) -> None:
        """See Timer."""


class Bench:
    """A driver that gets commands one by one."""

    def __init__(self, kazoo: Any, path: str) -> None:
        self.driver = KazooDriver(kazoo)
        self.hub = Recorder()
        self.driver.hub = cast(Any, self.hub)
        self.root = path
        self.session = kazoo.client_id[0]
        self._count = 0
        Engine(cast(Any, self.hub), self.driver).start(NoTimer())
        assert self.next()[:2] == ("session", "connected")

    def give(self, operation: str, path: str = "", **more: Any) -> int:
        """Passes a command to the driver and returns its number."""
        self._count += 1
        order = Order(self._count, operation, path and self.root + path, **more)
        self.driver.submit(cast(Any, order))
        return self._count

    def next(self) -> tuple[Any, ...]:
        """The next report to the hub."""
        return self.hub.received.get(timeout=LONG)

    def do(self, operation: str, path: str = "", **more: Any) -> tuple[Any, ...]:
        """Carries out a command. Returns its outcome, without number and session."""
        number = self.give(operation, path, **more)
        verb, id, session, *rest = self.next()
        assert (id, session) == (number, self.session)
        return (verb, *rest)


@pytest.fixture(params=["root", "chroot"])
def bench(request: pytest.FixtureRequest, zookeeper: ZooKeeperBackend) -> Iterator[Bench]:
    """A driver on a client with and without a chroot."""
    zookeeper.client.ensure_path(f"/{zookeeper.prefix}/x")
    at = f"/{zookeeper.prefix}" if request.param == "chroot" else ""
    kazoo = KazooClient(hosts=zookeeper.address + at, timeout=10)
    kazoo.start()
    bench = Bench(kazoo, "/x" if at else f"/{zookeeper.prefix}/x")
    yield bench
    bench.driver.close(LONG)
    assert len(bench.driver.hooks.watches) == 0
    kazoo.stop()
    kazoo.close()


def test_kinds_of_nodes(bench: Bench, zookeeper: ZooKeeperBackend) -> None:
    kinds = {0: (0, ""), EPHEMERAL: (bench.session, ""), EPHEMERAL_SEQUENTIAL: (bench.session, "0000000002")}
    for flags, (owner, number) in kinds.items():
        verb, path, czxid = bench.do("create", f"/n{flags}-", data=b"who", flags=flags)
        assert (verb, path) == ("created", f"{bench.root}/n{flags}-{number}")
        stat = zookeeper.client.exists(f"/{zookeeper.prefix}/x/n{flags}-{number}")
        assert (stat.ephemeralOwner, stat.czxid) == (owner, czxid)
    assert bench.do("create", "/c", flags=CONTAINER)[0] == "created"
    assert bench.do("create", f"/n{EPHEMERAL}-", flags=EPHEMERAL) == ("error", NODE_EXISTS)


def test_a_node_is_given_other_data(bench: Bench, zookeeper: ZooKeeperBackend) -> None:
    bench.do("create", "/n", data=b"before")
    assert bench.do("set", "/n", data=b"after") == ("done",)
    verb, data, *stat = bench.do("get", "/n")
    real = zookeeper.client.exists(f"/{zookeeper.prefix}/x/n")
    assert (verb, data) == ("data", b"after")
    assert stat == [real.czxid, real.mzxid, 0, 1, real.ctime, real.mtime]
    assert real.czxid < real.mzxid
    assert bench.do("set", "/missing") == ("error", NO_NODE)


def test_several_writes_in_one(bench: Bench, zookeeper: ZooKeeperBackend) -> None:
    bench.do("create", "/old")
    parts = (
        ("create", f"{bench.root}/a-", b"1", EPHEMERAL_SEQUENTIAL, ANY),
        ("delete", f"{bench.root}/old", b"", 0, ANY),
        ("create", f"{bench.root}/b", b"2", EPHEMERAL, ANY),
        ("create", f"{bench.root}/c", b"3", CONTAINER, ANY),
        ("set", f"{bench.root}/b", b"5", 0, ANY),
        ("create", f"{bench.root}/d", b"4", 0, ANY),
    )
    assert bench.do("multi", parts=parts) == ("children", ["a-0000000001", "b", "c", "d"])
    directory = f"/{zookeeper.prefix}/x"
    assert sorted(zookeeper.client.get_children(directory)) == ["a-0000000001", "b", "c", "d"]
    assert [zookeeper.client.get(f"{directory}/{name}")[0] for name in "bd"] == [b"5", b"4"]


def test_a_check_alone_goes_through_a_quorum(bench: Bench, zookeeper: ZooKeeperBackend) -> None:
    def check(path: str) -> object:
        return bench.do("multi", parts=(("check", path, b"", 0, ANY),))

    before = zookeeper.client.last_zxid
    assert check("/") == ("children", [])
    assert check(f"{bench.root}/missing") == ("error", NO_NODE)
    zookeeper.client.sync("/")
    # Each of the two replies was a transaction.
    assert zookeeper.client.last_zxid >= before + 2


@pytest.mark.parametrize("first", [True, False])
def test_of_several_writes_all_or_none(bench: Bench, zookeeper: ZooKeeperBackend, first: bool) -> None:
    good = ("create", f"{bench.root}/a", b"", EPHEMERAL, ANY)
    bad = ("delete", f"{bench.root}/missing", b"", 0, ANY)
    worse = ("create", f"{bench.root}/missing/b", b"", EPHEMERAL, ANY)
    parts = (bad, good, worse) if first else (good, bad, worse)
    assert bench.do("multi", parts=parts) == ("error", NO_NODE)
    bench.do("create", "/a")
    assert bench.do("multi", parts=(good, bad)) == ("error", NODE_EXISTS)
    assert zookeeper.client.get_children(f"/{zookeeper.prefix}/x") == ["a"]


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize(
    ("operation", "name", "version", "code"),
    [
        ("set", "/here", 7, BAD_VERSION),
        ("delete", "/here", 7, BAD_VERSION),
        ("check", "/here", 7, BAD_VERSION),
        ("delete", "", ANY, NOT_EMPTY),
        ("create", "/here", ANY, NODE_EXISTS),
        ("set", "/missing", 0, NO_NODE),
        ("delete", "/missing", ANY, NO_NODE),
        ("check", "/missing", 0, NO_NODE),
    ],
)
def test_the_error_is_that_of_the_first_write_that_fails(
    bench: Bench, operation: str, name: str, version: int, code: int, at: int
) -> None:
    bench.do("create", "/here")
    here = f"{bench.root}/here"
    good = [("check", here, b"", 0, 0), ("set", here, b"x", 0, 0), ("check", here, b"", 0, 1)]
    bad = (operation, bench.root + name, b"", 0, version)
    other = ("create" if code != NODE_EXISTS else "delete", bench.root, b"", 0, ANY)
    assert bench.do("multi", parts=(*good[:at], bad, other, *good[at:])) == ("error", code)
    verb, data, _, _, _, version, *_ = bench.do("get", "/here")
    assert (verb, data, version) == ("data", b"", 0)


@pytest.mark.parametrize("data", [bytes(range(256)), bytes(range(250)) * 4000, b""], ids=len)
def test_a_set_among_several_writes_has_any_data(bench: Bench, data: bytes) -> None:
    bench.do("create", "/n", data=b"before")
    node = f"{bench.root}/n"
    sets = (("set", node, b"between", 0, 0), ("check", node, b"", 0, 1), ("set", node, data, 0, 1))
    assert bench.do("multi", parts=sets) == ("children", [])
    verb, found, _, _, _, version, *_ = bench.do("get", "/n")
    assert (verb, version) == ("data", 2)
    assert found == data
    assert bench.do("multi", parts=(("delete", node, b"", 0, 1),)) == ("error", BAD_VERSION)
    assert bench.do("multi", parts=(("delete", node, b"", 0, 2),)) == ("children", [])


def test_a_watched_list(bench: Bench, zookeeper: ZooKeeperBackend) -> None:
    directory = f"/{zookeeper.prefix}/x"
    zookeeper.client.create(f"{directory}/l")
    number = bench.give("children", "/l", flags=WATCH)
    assert bench.next() == ("children", number, bench.session, [])
    zookeeper.client.create(f"{directory}/l/new")
    assert bench.next() == ("watch", number, bench.session, "changed")
    # The watch is used up: the next change sends no event, and a second watch is a new one.
    zookeeper.client.delete(f"{directory}/l/new")
    again = bench.give("children", "/l", flags=WATCH)
    assert bench.next() == ("children", again, bench.session, [])
    assert bench.do("children", "/l") == ("children", [])
    zookeeper.client.delete(f"{directory}/l")
    assert bench.next() == ("watch", again, bench.session, "deleted")
    assert bench.do("children", "/l", flags=WATCH) == ("error", NO_NODE)


def test_the_watch_of_a_list_is_lost_with_its_connection(bench: Bench) -> None:
    bench.do("create", "/l")
    number = bench.give("children", "/l", flags=WATCH)
    bench.next()
    bench.driver.client._connection._socket.shutdown(2)
    received = [bench.next() for _ in range(3)]
    assert ("watch", number, bench.session, "gone") in received
    assert [verb for verb, *_ in received if verb == "session"] == ["session", "session"]
