"""The proxies in front of a real Redis."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from clients import redis, redis_at
from support import LONG, Control, wait_until


@pytest.fixture
def proxy(control: Control) -> dict[str, Any]:
    """A proxy in front of redis-1, which is empty."""
    control.do("flush redis-1")
    return control.do("proxy redis-1")


@pytest.fixture
def client(control: Control, proxy: dict[str, Any]) -> Iterator[Any]:
    """A redis-py client behind the proxy, with one connection. Its own requests are not counted."""
    with redis_at(proxy["address"], socket_timeout=LONG, single_connection_client=True) as client:
        client.ping()
        control.do(f"proxy-reset {proxy['id']}")
        yield client


@pytest.fixture
def direct(addresses: dict[str, str]) -> Any:
    """A redis-py client that does not use the proxy."""
    return redis_at(addresses["FENCEPOST_REDIS"])


def test_redis_requests_are_counted_by_kind(control: Control, proxy: dict[str, Any], client: Any) -> None:
    client.set("key", "v" * 1_000_000)
    assert len(client.get("key")) == 1_000_000
    client.eval("return redis.call('GET', KEYS[1])", 1, "key")
    client.ping()
    counts = control.count(proxy)
    assert counts["by_kind"] == {"SET": 1, "GET": 1, "EVAL": 1, "PING": 1}
    assert (counts["total"], counts["flights"], counts["events"]) == (3, 3, 0)
    assert 1_000_000 < counts["bytes_sent"] < 1_000_200
    assert 2_000_000 < counts["bytes_received"] < 2_000_200
    assert counts["connections"] == [{"requests": 3, "flights": 3, "open": True}]


def test_a_pipeline_is_one_flight(control: Control, proxy: dict[str, Any], client: Any) -> None:
    pipeline = client.pipeline(transaction=False)
    pipeline.ping().execute()  # connects
    control.do(f"proxy-reset {proxy['id']}")
    for number in range(100):
        pipeline.set(f"key{number}", number)
    pipeline.execute()
    counts = control.count(proxy)
    assert (counts["total"], counts["flights"]) == (100, 1)
    pipeline.get("key1").execute()
    assert control.count(proxy)["flights"] == 2


@pytest.mark.parametrize("protocol", [2, 3])
def test_messages_do_not_disturb_the_count(
    control: Control, proxy: dict[str, Any], direct: Any, protocol: int
) -> None:
    with redis_at(proxy["address"], protocol=protocol).pubsub() as subscription:
        subscription.subscribe("a", "b")
        assert [subscription.get_message(timeout=LONG)["type"] for _ in "ab"] == ["subscribe"] * 2
        before = control.count(proxy)
        direct.publish("a", "hello")
        assert subscription.get_message(timeout=LONG)["data"] == b"hello"
        subscription.unsubscribe("a")
        assert subscription.get_message(timeout=LONG)["type"] == "unsubscribe"
        counts = control.count(proxy)
    assert counts["by_kind"] == {**before["by_kind"], "UNSUBSCRIBE": 1}
    assert counts["flights"] == before["flights"] + 1


def test_reset_begins_again_and_forgets_closed_connections(control: Control, proxy: dict[str, Any]) -> None:
    with redis_at(proxy["address"]) as first, redis_at(proxy["address"]) as second:
        first.set("key", 1)
        second.set("key", 2)
        first.close()
        wait_until(lambda: control.do("list")["proxies"][0]["connections"] == 1, "the first is closed")
        assert [each["open"] for each in control.count(proxy)["connections"]] == [False, True]
        counts = control.do(f"proxy-reset {proxy['id']}")
        assert (counts["total"], counts["by_kind"]) == (0, {})
        second.get("key")
        assert control.count(proxy)["connections"] == [{"requests": 1, "flights": 1, "open": True}]


def test_cut_ends_connections_and_refuses_new(control: Control, proxy: dict[str, Any], client: Any) -> None:
    client.set("key", "value")
    assert control.do(f"proxy-cut {proxy['id']}")["cut"]
    assert control.do(f"proxy-cut {proxy['id']}")["connections"] == 0
    with pytest.raises(redis.ConnectionError, match=r"closed|reset"):
        client.get("key")
    with pytest.raises(redis.ConnectionError, match="refused"):
        client.get("key")
    assert not control.do(f"proxy-heal {proxy['id']}")["cut"]
    assert not control.do(f"proxy-heal {proxy['id']}")["cut"]
    assert client.get("key") == b"value"


def test_hold_keeps_what_is_sent_until_pass(control: Control, proxy: dict[str, Any], direct: Any) -> None:
    host, port = proxy["address"].split(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as old:
        wait_until(lambda: control.count(proxy)["connections"], "the first is accepted")
        assert control.do(f"proxy-hold {proxy['id']}")["held"]
        with socket.create_connection((host, int(port)), timeout=LONG) as new:
            for client in (old, new):
                client.sendall(b"INCR key\r\n")
            wait_until(lambda: control.count(proxy)["total"] == 2, "both requests came to the proxy")
            assert direct.get("key") is None
            assert [kept(control, proxy, text) for text in (b"key", b"INCR", b"other")] == [2, 2, 0]
            assert not control.do(f"proxy-pass {proxy['id']}")["held"]
            assert kept(control, proxy, b"key") == 0
            assert sorted(client.recv(100) for client in (old, new)) == [b":1\r\n", b":2\r\n"]


def kept(control: Control, proxy: dict[str, Any], text: bytes) -> int:
    """How many kept requests of the proxy contain this text."""
    number: int = control.do(f"proxy-kept {proxy['id']} {text.hex()}")["kept"]
    return number


def test_a_slow_proxy_forwards_answers_later(control: Control, proxy: dict[str, Any], direct: Any) -> None:
    """Two requests are then one flight, even if the client sends the second one late."""
    host, port = proxy["address"].split(":")

    def has(value: bytes) -> bool:
        return bool(direct.get("key") == value)

    control.do(f"proxy-slow {proxy['id']} 60000")
    with socket.create_connection((host, int(port)), timeout=LONG) as client:
        for value in (b"1", b"2"):
            client.sendall(b"INCR key\r\n")
            wait_until(partial(has, value), "the server has carried it out")
        counts = control.count(proxy)
        assert (counts["total"], counts["flights"]) == (2, 1)
        client.settimeout(0.1)
        with pytest.raises(OSError, match="timed out"):
            client.recv(1)
    control.do(f"proxy-slow {proxy['id']} 0")
    with socket.create_connection((host, int(port)), timeout=LONG) as client:
        client.sendall(b"INCR key\r\n")
        assert client.recv(100) == b":3\r\n"


def test_hold_keeps_replies_and_ends(control: Control, proxy: dict[str, Any], direct: Any) -> None:
    host, port = proxy["address"].split(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as connection:
        connection.sendall(b"BLPOP list 0\r\n")
        wait_until(lambda: direct.info("clients")["blocked_clients"] == 1, "the client waits")
        control.do(f"proxy-hold {proxy['id']}")
        direct.rpush("list", "value")
        control.do("kill redis-1")
        connection.settimeout(0.1)
        with pytest.raises(OSError, match="timed out"):
            connection.recv(1)
        connection.settimeout(LONG)
        control.do(f"proxy-pass {proxy['id']}")
        with closing(connection.makefile("rb")) as replies:
            assert replies.read() == b"*2\r\n$4\r\nlist\r\n$5\r\nvalue\r\n"


def test_ignored_connections_are_accepted_and_never_answered(
    control: Control, proxy: dict[str, Any], direct: Any
) -> None:
    host, port = proxy["address"].split(":")
    assert control.do(f"proxy-ignore {proxy['id']} 1")["ignores"] == 1
    with socket.create_connection((host, int(port)), timeout=LONG) as ignored:
        ignored.sendall(b"INCR key\r\n")
        wait_until(lambda: control.count(proxy)["total"] == 1, "the request came to the proxy")
        control.do(f"proxy-hold {proxy['id']}")
        assert control.do(f"proxy-pass {proxy['id']}")["ignores"] == 0
        with socket.create_connection((host, int(port)), timeout=LONG) as answered:
            answered.sendall(b"INCR key\r\n")
            assert answered.recv(100) == b":1\r\n"
        ignored.settimeout(0.1)
        with pytest.raises(OSError, match="timed out"):
            ignored.recv(1)

    def connections() -> int:
        proxies = control.do("list")["proxies"]
        return next(int(each["connections"]) for each in proxies if each["id"] == proxy["id"])

    wait_until(lambda: connections() == 0, "both have ended")
    assert direct.get("key") == b"1"
    assert "not a number" in control.fail(f"proxy-ignore {proxy['id']} many")


def test_a_dead_server_behind_a_proxy(control: Control, client: Any) -> None:
    client.set("key", "value")
    control.do("kill redis-1")
    for _ in range(2):
        with pytest.raises(redis.ConnectionError):
            client.get("key")
    control.do("start redis-1")
    assert client.get("key") is None


def test_a_lost_reply_of_redis(control: Control, proxy: dict[str, Any], client: Any, direct: Any) -> None:
    control.do(f"proxy-drop-replies {proxy['id']} 2")
    client.ping()
    assert client.incr("key") == 1
    with pytest.raises(redis.ConnectionError):
        client.incr("key")
    assert direct.get("key") == b"2"
    assert control.count(proxy)["replies_lost"] == 1
    assert client.incr("key") == 3


def test_replies_before_the_lost_one_arrive(control: Control, proxy: dict[str, Any]) -> None:
    host, port = proxy["address"].split(":")
    control.do(f"proxy-drop-replies {proxy['id']} 3")
    with socket.create_connection((host, int(port)), timeout=LONG) as connection:
        connection.sendall(b"INCR key\r\n" * 5)
        with closing(connection.makefile("rb")) as replies:
            assert replies.read() == b":1\r\n:2\r\n"


def test_requests_in_any_pieces(control: Control, proxy: dict[str, Any]) -> None:
    host, port = proxy["address"].split(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"*2\r\n$4\r\nINCR\r\n$3\r\nkey\r\nGET key\r\nQUIT\r\n":
            connection.sendall(bytes([byte]))
        with closing(connection.makefile("rb")) as replies:
            assert replies.read() == b":1\r\n$1\r\n1\r\n+OK\r\n"
    assert control.count(proxy)["by_kind"] == {"INCR": 1, "GET": 1, "QUIT": 1}


def test_a_small_reply_does_not_wait_for_the_one_before(proxy: dict[str, Any], direct: Any) -> None:
    host, port = proxy["address"].split(":")
    late = 0
    with (
        socket.create_connection((host, int(port)), timeout=LONG) as connection,
        closing(connection.makefile("rb")) as replies,
    ):

        def read_until(word: bytes) -> None:
            while word not in replies.readline():
                pass

        connection.sendall(b"SUBSCRIBE news\r\n")
        for _ in range(20):
            # With alternating requests and replies, acknowledgements are delayed by 40 ms.
            connection.sendall(b"PING question\r\n")
            read_until(b"question")
            began = time.monotonic()
            for word in (b"one", b"another"):
                direct.publish("news", word)
                read_until(word)
            late += time.monotonic() - began > 0.03
    assert late < 10


def test_a_closed_proxy_is_gone(control: Control, proxy: dict[str, Any], client: Any) -> None:
    client.ping()
    control.do(f"proxy-close {proxy['id']}")
    for _ in range(2):
        with pytest.raises(redis.ConnectionError):
            client.ping()
    assert f"no proxy '{proxy['id']}'" in control.fail(f"proxy-count {proxy['id']}")
    assert "redis-1" in control.fail("proxy redis-9")
    assert "not a number" in control.fail(f"proxy-drop-replies {control.do('proxy redis-1')['id']} many")
