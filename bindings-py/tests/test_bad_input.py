"""Invalid input raises an error at once, of Python's own types, before the client sends anything."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import Connect
from support import LONG, Backend, wait_until

Call = Callable[[], object]


def error_of(call: Call) -> fencepost.ConfigError:
    with pytest.raises(fencepost.ConfigError) as error:
        call()
    assert isinstance(error.value, ValueError)
    return error.value


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://localhost", "unknown-scheme"),
        ("localhost:2181", "unknown-scheme"),
        ("", "unknown-scheme"),
        ("zk://", "invalid-url"),
        ("zk://localhost:0", "invalid-url"),
        ("zk://localhost?timeout=1", "unknown-option"),
        ("zk://localhost?session_timeout=-1", "not-positive"),
        ("zk://localhost?session_timeout=soon", "invalid-url"),
        ("redis://", "invalid-url"),
        ("redis://localhost/first", "invalid-url"),
        ("redis://localhost?retries=1", "unknown-option"),
        ("memory:a/b", "invalid-url"),
        (None, "unreadable-settings"),
        (b"memory:", "unreadable-settings"),
    ],
)
def test_addresses(url: Any, name: str) -> None:
    assert error_of(lambda: fencepost.connect(url)).name == name
    assert error_of(lambda: fencepost.asyncio.connect(url)).name == name


def test_an_address_keeps_its_password() -> None:
    assert "secret" not in str(error_of(lambda: fencepost.connect("redis://user:secret@/0")))


@pytest.mark.parametrize("connection", [None, object(), "redis://localhost", 7])
def test_connections(connection: object) -> None:
    for client in (fencepost.Client, fencepost.asyncio.Client):
        assert error_of(lambda client=client: client(connection)).name == "unreadable-settings"  # type: ignore[misc]


@pytest.mark.parametrize("name", ["", None, 42, b"stock"])
def test_names(backend: Backend, connect: Connect, name: Any) -> None:
    expected = "empty-name" if name == "" else "unreadable-settings"
    assert error_of(lambda: connect(backend.url).lock(name)).name == expected


@pytest.mark.parametrize("name", ["a//b", "a/", "a\0b", "a/../b", "zookeeper/a", "x" * 5000])
def test_names_that_are_no_paths(connect: Connect, name: str) -> None:
    assert error_of(lambda: connect("memory:").lock(name)).name == "invalid-name"


@pytest.mark.parametrize("url", ["memory:", "zk://127.0.0.1:1", "redis://127.0.0.1:1"])
def test_half_a_character_is_no_name(connect: Connect, url: str) -> None:
    # As bytes, all of them would be the same name.
    error = error_of(lambda: connect(url).lock("a\ud800"))
    assert (error.code, error.name) == (102, "invalid-name")
    assert r"'a\ud800'" in str(error)


@pytest.mark.parametrize("name", ["till/\U0001f600", "\U00010000", "a\U0002f800b"], ids=ascii)
@pytest.mark.parametrize("place", ["memory", "zookeeper"])
def test_characters_above_the_first_plane(connect: Connect, place: str, name: str) -> None:
    # The client sends no request.
    client = connect({"memory": "memory:", "zookeeper": "zk://127.0.0.1:1"}[place])
    for lock in (client.lock, client.election, lambda name: client.multi_lock(["a", name])):
        error = error_of(lambda lock=lock: lock(name))  # type: ignore[misc]
        assert (error.code, error.name) == (102, "invalid-name")
        assert "U+FFFF" in str(error)
    with connect("redis://127.0.0.1:1") as other:
        assert other.lock(name).name == name


@pytest.mark.parametrize("name", ["a}b", "a{}b", "{}x"])
def test_names_that_a_cluster_would_split(connect: Connect, name: str) -> None:
    error = error_of(lambda: connect("redis://127.0.0.1:1").lock(name))
    assert (error.code, error.name) == (102, "invalid-name")
    assert f'"{name}"' in str(error)
    assert "hash tag" in str(error)


LONG_NAME = "y" * 1000
#: The largest length of these errors: the shown part of the name, and the text besides it.
MOST = 64 + 300


def test_an_error_about_a_long_name_is_short(connect: Connect) -> None:
    client = connect("memory:")
    lock, mine = client.lock(LONG_NAME), client.lock(LONG_NAME, owner="request-17")
    calls: list[Call] = [
        lambda: client.lock(LONG_NAME + "//"),
        lambda: connect("redis://127.0.0.1:1").lock("{}" + LONG_NAME),
        lambda: connect("redis://127.0.0.1:1").lock(LONG_NAME).acquire(timeout=0.1),
        lambda: connect("zk://127.0.0.1:1").lock(LONG_NAME).acquire(timeout=0.1),
    ]
    with pytest.raises(fencepost.LockLost) as lost, lock:
        calls += [lock.hold(blocking=False).__enter__, lock.hold(timeout=0.01).__enter__]

        def wait() -> None:
            with suppress(fencepost.MisuseError):
                mine.acquire()

        waiter = threading.Thread(target=wait)
        waiter.start()
        wait_until(lambda: len(lock.contenders()) == 2, "it waits")
        calls += [mine.acquire]
        texts = []
        for call in calls:
            with pytest.raises(fencepost.FencepostError) as error:
                call()
            texts.append(str(error.value))
        with client._engine.order, pytest.raises(fencepost.MisuseError) as misuse:
            lock.acquire()
        assert (misuse.value.code, misuse.value.name) == (543, "cannot-wait")
        client.close()
    waiter.join(LONG)
    for text in (*texts, str(misuse.value), str(lost.value)):
        assert "y" * 60 in text
        assert len(text) < MOST, text


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"ttl": 0}, "not-positive"),
        ({"ttl": -1.5}, "not-positive"),
        ({"ttl": timedelta(seconds=-1)}, "not-positive"),
        ({"ttl": 0.001}, "lease-too-short"),
        ({"ttl": 1, "margin": 0.9}, "lease-too-short"),
        ({"ttl": float("inf")}, "too-long"),
        ({"ttl": 10**400}, "too-long"),
        ({"ttl": float("nan")}, "unreadable-settings"),
        ({"ttl": "10"}, "unreadable-settings"),
        ({"ttl": True}, "unreadable-settings"),
        ({"margin": 0}, "not-positive"),
        ({"poll": 0}, "not-positive"),
        ({"answer_within": -1}, "not-positive"),
        ({"max_hold": 0}, "not-positive"),
        ({"renew": 1}, "unreadable-settings"),
    ],
)
@pytest.mark.parametrize("url", ["redis://localhost:1", "memory:"])
def test_options(connect: Connect, url: str, options: dict[str, Any], name: str) -> None:
    client = connect(url)
    assert error_of(lambda: client.lock("a", **options)).name == name


def test_memory_takes_the_options_of_both_servers(connect: Connect) -> None:
    lock = connect("memory:").lock(
        "a", ttl=10, renew=False, margin=0.01, poll=1, max_hold=60, layout="kazoo", identifier="till-7"
    )
    with lock as grant:
        assert grant.remaining() is not None
        assert [each.identifier for each in lock.contenders()] == ["till-7"]


@pytest.mark.parametrize("option", ["ttl", "margin", "poll", "renew"])
def test_options_of_another_family(zookeeper: Backend, connect: Connect, option: str) -> None:
    options: dict[str, Any] = {option: True if option == "renew" else 1}
    error = error_of(lambda: connect(zookeeper.url).lock("a", **options))
    assert (error.code, error.name) == (108, "unknown-option")
    assert f'unknown option "{option}"' in str(error)
    assert "session_timeout" in str(error)


@pytest.mark.parametrize(
    "options", [{"layout": "curator"}, {"node_prefix": "n"}, {"identifier": "x"}, {"revocable": True}]
)
def test_options_that_redis_does_not_have(connect: Connect, options: dict[str, Any]) -> None:
    error = error_of(lambda: connect("redis://localhost:1").lock("a", **options))
    assert error.name == "unknown-option"
    assert "ZooKeeper" in str(error)


def test_kinds_that_redis_does_not_have(connect: Connect) -> None:
    client = connect("redis://localhost:1")
    for call in (
        lambda: client.read_write_lock("a"),
        lambda: client.semaphore("a", 2),
        lambda: client.election("a"),
        lambda: client.multi_lock(["a"]),
    ):
        error = error_of(call)
        assert error.name == "unknown-option"
        assert "ZooKeeper" in str(error)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"layout": "zookeeper"}, "invalid-option"),
        ({"layout": 1}, "unreadable-settings"),
        ({"layout": "kazoo", "node_prefix": "node_"}, "invalid-option"),
        ({"layout": "plain", "node_prefix": "a/b"}, "invalid-option"),
        ({"layout": "plain", "node_prefix": "a\ud800"}, "invalid-option"),
        ({"node_prefix": "node_"}, "invalid-option"),
        ({"identifier": "x" * 1025}, "invalid-option"),
        ({"identifier": "ü" * 513}, "invalid-option"),
        ({"identifier": b"x"}, "unreadable-settings"),
        ({"identifier": "\ud800"}, "invalid-option"),
        ({"revocable": 1}, "unreadable-settings"),
        ({"max_hold": 0}, "not-positive"),
    ],
)
def test_options_of_zookeeper(connect: Connect, options: dict[str, Any], name: str) -> None:
    client = connect("memory:")
    assert error_of(lambda: client.lock("a", **options)).name == name
    assert error_of(lambda: client.election("a", **options)).name == name


@pytest.mark.parametrize("permits", [0, -1, 2**32, 2**70, True, 1.5, "2", None])
def test_permits(connect: Connect, permits: Any) -> None:
    error = error_of(lambda: connect("memory:").semaphore("a", permits))
    assert error.name == ("invalid-option" if type(permits) is int else "unreadable-settings")


def test_plain_is_for_mutexes_and_elections(connect: Connect) -> None:
    client = connect("memory:")
    plain: Any = "plain"
    assert error_of(lambda: client.read_write_lock("a", layout=plain)).name == "invalid-option"
    assert error_of(lambda: client.semaphore("a", 1, layout=plain)).name == "invalid-option"


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ([], "invalid-option"),
        (["a", "a"], "invalid-option"),
        ([f"n{number}" for number in range(65)], "invalid-option"),
        (["a", ""], "empty-name"),
        (["a", "b//c"], "invalid-name"),
        (["a", "\ud800"], "invalid-name"),
        (["a", 7], "unreadable-settings"),
        ("ab", "unreadable-settings"),
        (None, "unreadable-settings"),
    ],
)
def test_names_of_many_locks(connect: Connect, names: Any, name: str) -> None:
    assert error_of(lambda: connect("memory:").multi_lock(names)).name == name


def test_many_locks_are_looked_at_one_by_one(connect: Connect) -> None:
    error = error_of(connect("memory:").multi_lock(["a", "b"]).contenders)
    assert (error.code, error.name) == (108, "unknown-option")
    assert '"contenders"' in str(error)


@pytest.mark.parametrize("name", ["", "a//b", 7])
def test_names_of_other_kinds(connect: Connect, name: Any) -> None:
    client = connect("memory:")
    for call in (
        lambda: client.read_write_lock(name),
        lambda: client.semaphore(name, 2),
        lambda: client.election(name),
    ):
        error_of(call)


def test_on_lost() -> None:
    import asyncio

    async def ask() -> None:
        async with fencepost.asyncio.connect("memory:") as client:
            ignore: Any = "ignore"
            client.lock("a", on_lost=ignore)

    assert error_of(lambda: asyncio.run(ask())).name == "unreadable-settings"


TRY = "to try without waiting"


@pytest.mark.parametrize(
    ("timeout", "name"),
    [
        (0, "not-positive"),
        (-1, "not-positive"),
        (-1e-9, "not-positive"),
        (timedelta(0), "not-positive"),
        (float("nan"), "unreadable-settings"),
        (float("inf"), "too-long"),
        ("1", "unreadable-settings"),
        (False, "unreadable-settings"),
    ],
)
def test_timeouts(backend: Backend, connect: Connect, timeout: Any, name: str) -> None:
    client = connect(backend.url)
    lock, scope = client.lock(backend.name()), client.idempotency("payments")
    for call in (
        lock.acquire,
        lambda timeout: lock.hold(timeout).__enter__(),
        lambda timeout: scope.claim("order-17", timeout=timeout),
        lambda timeout: scope.once(key=str, timeout=timeout),
    ):
        error = error_of(lambda call=call: call(timeout))  # type: ignore[misc]
        assert error.name == name
    if name == "not-positive":
        assert str(error) == f"timeout is {timeout!r}: give more than 0 seconds, or blocking=False {TRY}"
    with lock:
        assert lock._client._engine.hub.pending == 1


def test_a_try_has_no_timeout(connect: Connect) -> None:
    lock = connect("memory:").lock("a")
    assert error_of(lambda: lock.acquire(1, blocking=False)).name == "unreadable-settings"
    blocking: Any = 1
    assert error_of(lambda: lock.acquire(blocking=blocking)).name == "unreadable-settings"


def test_a_prefix_is_for_paths(redis_server: Backend) -> None:
    client = getattr(redis_server, "client")  # noqa: B009
    assert error_of(lambda: fencepost.Client(client, prefix="/shop")).name == "unknown-option"
    prefix: Any = 1
    assert error_of(lambda: fencepost.Client(client, prefix=prefix)).name == "unreadable-settings"
