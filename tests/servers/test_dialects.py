"""The proxies parse the protocols, wherever the byte stream is split."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from fleet.proxy.dialect import Dialect, Frame
from fleet.proxy.redis import RedisDialect
from fleet.proxy.zookeeper import ZooKeeperDialect

#: The sender (client or server) of each message, and its bytes.
Talk = list[tuple[str, bytes]]


def frame(*numbers: int, rest: bytes = b"") -> bytes:
    body = struct.pack(f">{len(numbers)}i", *numbers) + rest
    return struct.pack(">i", len(body)) + body


def command(*words: str) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words)


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """The data as a whole, byte by byte, and split once at every position."""
    yield [data]
    yield [data[i : i + 1] for i in range(len(data))]
    for place in range(1, len(data)):
        yield [data[:place], data[place:]]


def play(dialect: Dialect, talk: Talk, how: int) -> tuple[list[str], list[str]]:
    """The parsed requests of a conversation, and the replies and events, in order."""
    seen: list[str] = []
    answered: list[str] = []
    for speaker, data in talk:
        listen = dialect.requests if speaker == "client" else dialect.replies
        pieces = list(cuts(data))[how % (len(data) + 1)]
        frames: list[Frame] = [item for piece in pieces for item in listen(piece)]
        assert b"".join(raw for raw, _ in frames) == data
        into = seen if speaker == "client" else answered
        into.extend(request.kind for _, request in frames if request is not None)
    return seen, answered


def check(dialect: type[Dialect], talk: Talk, seen: list[str], answered: list[str], waiting: int = 0) -> None:
    for how in range(max(len(data) for _, data in talk) + 1):
        player = dialect()
        assert play(player, talk, how) == (seen, answered)
        assert player.waiting == waiting


def test_zookeeper_requests_are_matched_by_xid() -> None:
    talk = [
        ("client", frame(0, 0, 0, 4000, 0, 0, 0)),  # the handshake is not counted
        ("server", frame(0, 4000, 0, 1, 16, rest=bytes(16))),
        ("client", frame(1, 15, rest=b"path") + frame(-2, 11) + frame(2, 12)),
        ("client", frame(-4, 100) + frame(3, 99)),
        ("server", frame(-1, 0, 0, 0, rest=b"watch event") + frame(1, 0, 7, 0, rest=b"path")),
        ("server", frame(-2, 0, 7, 0) + frame(2, 0, 7, -101) + frame(-4, 0, 7, 0)),
        ("client", frame(4, -11)),
        ("server", frame(4, 0, 8, 0)),
    ]
    seen = ["create2", "ping", "getChildren2", "auth", "operation 99", "closeSession"]
    answered = ["event", "create2", "ping", "getChildren2", "auth", "closeSession"]
    check(ZooKeeperDialect, talk, seen, answered, waiting=1)


def test_four_letter_words_pass() -> None:
    check(ZooKeeperDialect, [("client", b"ruok"), ("server", b"imok")], [], [])
    check(ZooKeeperDialect, [("client", b"srvr\n"), ("server", b"Zookeeper version: 3\nMode: x\n")], [], [])


@pytest.mark.parametrize(
    "reply",
    [
        b"+OK\r\n",
        b"-ERR wrong\r\n",
        b":5\r\n",
        b"$-1\r\n",
        b"$0\r\n\r\n",
        b"$7\r\na\r\nb\r\nc\r\n",
        b"*-1\r\n",
        b"*0\r\n",
        b"*3\r\n*2\r\n:1\r\n*0\r\n$-1\r\n+x\r\n",
        b"_\r\n",
        b"#t\r\n",
        b",1.5\r\n",
        b"(123456789012345678901234567890\r\n",
        b"=7\r\ntxt:abc\r\n",
        b"!5\r\nERR x\r\n",
        b"~2\r\n+a\r\n+b\r\n",
        b"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n",
        b"|1\r\n+ttl\r\n:10\r\n$1\r\nv\r\n",
        b">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n:1\r\n",
    ],
)
def test_every_type_of_reply_is_one_reply(reply: bytes) -> None:
    talk = [("client", command("GET", "key") + command("get", "other")), ("server", reply + b"+end\r\n")]
    news = ["event"] if reply.startswith(b">") else []
    check(RedisDialect, talk, ["GET", "GET"], [*news, "GET", "GET"])


def test_inline_and_empty_commands() -> None:
    talk = [("client", b"\r\nset k v\r\n*0\r\nPING\n"), ("server", b"+OK\r\n+PONG\r\n")]
    check(RedisDialect, talk, ["SET", "PING"], ["SET", "PING"])


def acknowledge(kind: str, channel: str, count: int, push: bool = False) -> bytes:
    return (
        b">" * push
        + b"*" * (not push)
        + command(kind, channel)[1:].replace(b"2", b"3", 1)
        + b":%d\r\n" % count
    )


@pytest.mark.parametrize("push", [False, True])
def test_messages_are_no_replies(push: bool) -> None:
    message = (b">" if push else b"*") + command("message", "a", "subscribe")[1:]
    talk = [
        ("client", command("SUBSCRIBE", "a", "b")),
        ("server", acknowledge("subscribe", "a", 1, push) + message + acknowledge("subscribe", "b", 2, push)),
        ("client", command("PSUBSCRIBE", "p*") + command("UNSUBSCRIBE") + command("PUNSUBSCRIBE")),
        (
            "server",
            message + acknowledge("psubscribe", "p*", 3, push) + acknowledge("unsubscribe", "a", 2, push),
        ),
        ("server", message + acknowledge("unsubscribe", "b", 1, push) + message),
        ("server", acknowledge("punsubscribe", "p*", 0, push)),
        ("client", command("LRANGE", "list", "0", "-1")),
        ("server", command("message", "is", "data")),
    ]
    seen = ["SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "LRANGE"]
    answered = [
        "event",
        "SUBSCRIBE",
        "event",
        "PSUBSCRIBE",
        "event",
        "UNSUBSCRIBE",
        "event",
        "PUNSUBSCRIBE",
        "LRANGE",
    ]
    check(RedisDialect, talk, seen, answered)


def test_unsubscribing_from_nothing_has_one_reply() -> None:
    talk = [
        ("client", command("UNSUBSCRIBE") + command("GET", "k")),
        ("server", b"*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n$-1\r\n"),
    ]
    check(RedisDialect, talk, ["UNSUBSCRIBE", "GET"], ["UNSUBSCRIBE", "GET"])


def test_a_refused_subscription_has_one_reply() -> None:
    talk = [
        ("client", command("SUBSCRIBE", "a", "b") + command("PING")),
        ("server", b"-NOPERM x\r\n+PONG\r\n"),
    ]
    check(RedisDialect, talk, ["SUBSCRIBE", "PING"], ["SUBSCRIBE", "PING"])


def test_a_long_value_in_many_pieces() -> None:
    value = command("SET", "key", "x\r\n" * 1_000_000)
    dialect = RedisDialect()
    frames = [item for i in range(0, len(value), 1000) for item in dialect.requests(value[i : i + 1000])]
    assert [(len(raw), request and request.kind) for raw, request in frames] == [(len(value), "SET")]
