"""The raw hub: its verbs, its outputs, and replies of the wrong form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fencepost
import pytest
from fencepost.hub import Address, Command, Event, Hub, MemoryServer, Settings, Wait, is_from_replica, now
from support import LONG, RedisBackend

OWNER = bytes(range(16))
SESSION = 0x1234_5678_9ABC_DEF0


def redis_settings(**options: object) -> Settings:
    return Settings(json.dumps({"kind": "redis-string", "name": "stock/42", **options}))


def zookeeper_settings(**options: object) -> Settings:
    return Settings(json.dumps({"kind": "zookeeper-mutex", "name": "stock/42", **options}))


def drain(hub: Hub) -> tuple[list[Command | Event], int | None]:
    outputs: list[Command | Event] = []
    until = hub.drain(outputs)
    return outputs, until


def asking() -> tuple[Hub, int, Command]:
    """A Redis hub with a pending acquire."""
    hub = Hub("redis", 7)
    key = hub.open(1_000_000, redis_settings(), OWNER, 42)
    hub.acquire(1_000_000, key)
    command = hub.poll_output()
    assert isinstance(command, Command)
    return hub, key, command


def entering() -> tuple[Hub, int, list[Command]]:
    """A ZooKeeper hub with a connected session and a pending acquire."""
    hub = Hub("zookeeper", 7)
    hub.session(1_000_000, "connecting")
    hub.session(1_000_000, "connected", SESSION, 10_000_000)
    key = hub.open(1_000_000, zookeeper_settings(prefix="/shop"), OWNER, 42)
    hub.acquire(1_000_000, key)
    commands, _ = drain(hub)
    return hub, key, [command for command in commands if isinstance(command, Command)]


def test_a_redis_lock_from_acquire_to_release() -> None:
    hub, key, command = asking()
    assert (command.key, command.target, command.server, command.operation) == (key, "any", None, "call")
    assert command.deadline == 6_000_000
    assert command.arguments[0] == b"EVALSHA"
    assert command.arguments[3] == b"stock/42"
    assert (command.path, command.data, command.flags) == ("", b"", 0)
    wait = hub.poll_output()
    assert isinstance(wait, Wait)
    assert (wait.until, wait.reason) == (6_000_000, "retry")
    hub.reply(1_000_100, command.id, [1, b"9"])
    event = hub.poll_output()
    assert isinstance(event, Event)
    assert (event.key, event.name, event.fence, event.valid_until) == (key, "acquired", 9, 10_898_000)
    assert event.attempt == f"{OWNER.hex()}-1"
    assert (event.reason, event.code, event.text, event.command, event.detail, event.ahead) == (None,) * 6
    hub.release(1_000_200, key)
    (release,), until = drain(hub)
    assert until is not None
    hub.reply(1_000_300, release.id, (1,))  # type: ignore[union-attr]
    (released,), _ = drain(hub)
    assert isinstance(released, Event)
    assert released.name == "released"
    hub.close(1_000_400, key)
    assert drain(hub) == ([], None)
    assert hub.pending == 0


def test_a_zookeeper_lock_from_acquire_to_loss() -> None:
    hub, key, commands = entering()
    sync, create, children = commands
    assert (sync.operation, create.operation, children.operation) == ("sync", "create", "children")
    assert create.path.startswith("/shop/stock/42/_c_")
    assert create.flags == 1
    assert create.data == f"{OWNER.hex()}-1".encode()
    path = f"{create.path}0000000003"
    hub.done(1_000_100, sync.id, SESSION)
    hub.created(1_000_100, create.id, SESSION, path, 77)
    hub.children(1_000_200, children.id, SESSION, [path.rpartition("/")[2], "notes"])
    outputs, _ = drain(hub)
    acquired = next(each for each in outputs if isinstance(each, Event))
    assert (acquired.name, acquired.fence) == ("acquired", 77)
    hub.session(1_000_400, "suspended")
    hub.session(1_000_500, "expired")
    events = [each for each in drain(hub)[0] if isinstance(each, Event)]
    assert [event.name for event in events] == ["suspended", "lost"]
    assert (events[1].reason, events[1].code) == ("session-expired", 402)
    assert events[1].text == "the server has ended the session"
    assert key


def test_a_watch_brings_the_lock() -> None:
    hub, _, (sync, create, children) = entering()
    path = f"{create.path}0000000003"
    hub.done(1_000_100, sync.id, SESSION)
    hub.created(1_000_100, create.id, SESSION, path, 77)
    hub.children(1_000_100, children.id, SESSION, [path.rpartition("/")[2], "x-lock-0000000001"])
    outputs, _ = drain(hub)
    queued = next(each for each in outputs if isinstance(each, Event))
    assert (queued.name, queued.ahead) == ("queued", 1)
    commands = {each.path: each for each in outputs if isinstance(each, Command)}
    predecessor = commands["/shop/stock/42/x-lock-0000000001"]
    assert (predecessor.operation, predecessor.flags) == ("get", 4)
    hub.data(1_000_200, predecessor.id, SESSION, b"", 5, 5, SESSION, 0, 0, 0)
    hub.watch(1_000_300, predecessor.id, SESSION, "deleted")
    assert "acquired" in [each.name for each in drain(hub)[0] if isinstance(each, Event)]


@pytest.mark.parametrize(
    "value",
    [None, 1, b"OK", "OK", [], [1], [b"1", b"9"], [1, b"x"], [[1]], [1, None], {1: 2}, 1.5, True],
    ids=repr,
)
def test_replies_of_the_wrong_shape_from_redis(value: object) -> None:
    hub, _, command = asking()
    with pytest.raises(fencepost.MisuseError) as error:
        hub.reply(1_000_100, command.id, value)
    assert (error.value.code, error.value.name) == (203, "wrong-reply")
    # The hub treats the outcome as unknown, and sends the command again.
    until = drain(hub)[1]
    assert until is not None
    hub.handle_timeout(until)
    assert isinstance(drain(hub)[0][0], Command)


def endless() -> list[object]:
    itself: list[object] = []
    itself.append(itself)
    return itself


@pytest.mark.parametrize(
    ("value", "kind"),
    [(object(), TypeError), ({1}, TypeError), (2**63, OverflowError), (endless(), ValueError)],
)
def test_what_no_server_can_answer(value: object, kind: type[Exception]) -> None:
    hub, _, command = asking()
    with pytest.raises(kind):
        hub.reply(1_000_100, command.id, value)
    # Nothing has changed: the hub still accepts the right reply.
    hub.reply(1_000_200, command.id, [1, b"9"])
    assert [each.name for each in drain(hub)[0] if isinstance(each, Event)] == ["acquired"]


WRONG: list[Callable[[Hub, int], None]] = [
    lambda hub, id: hub.done(1_000_100, id, SESSION),
    lambda hub, id: hub.children(1_000_100, id, SESSION, []),
    lambda hub, id: hub.data(1_000_100, id, SESSION, b"", 1, 1, 0, 0, 0, 0),
]


@pytest.mark.parametrize("answer", WRONG)
def test_replies_of_the_wrong_shape_from_zookeeper(answer: Callable[[Hub, int], None]) -> None:
    hub, _, (_, create, _) = entering()
    with pytest.raises(fencepost.MisuseError) as error:
        answer(hub, create.id)
    assert error.value.name == "wrong-reply"


def test_misuse() -> None:
    hub, key, command = asking()
    calls: dict[str, Callable[[], object]] = {
        "unknown-command": lambda: hub.reply(1, 99, 1),
        "unknown-key": lambda: hub.release(1, 99),
        "busy": lambda: hub.acquire(1, key),
        "not-held": lambda: hub.extend(1, key),
        "wrong-family": lambda: hub.done(1, command.id, SESSION),
    }
    for name, call in calls.items():
        with pytest.raises(fencepost.MisuseError) as error:
            call()
        assert error.value.name == name
    hub.cancel(1_000_100, key)
    with pytest.raises(fencepost.MisuseError) as error:
        hub.cancel(1_000_100, key)
    assert error.value.name == "not-waiting"
    with pytest.raises(fencepost.MisuseError):
        hub.open(1, zookeeper_settings(), OWNER, 1)
    hub.shutdown(1_000_200)
    with pytest.raises(fencepost.MisuseError) as error:
        hub.open(1, redis_settings(), OWNER, 1)
    assert (error.value.code, error.value.name) == (207, "client-closed")


def test_values_that_python_refuses() -> None:
    hub, key, command = asking()
    calls: list[tuple[type[Exception], Callable[[Any], object]]] = [
        (OverflowError, lambda hub: hub.handle_timeout(-1)),
        (OverflowError, lambda hub: hub.handle_timeout(2**64)),
        (TypeError, lambda hub: hub.handle_timeout(1.5)),
        (ValueError, lambda hub: hub.open(1, redis_settings(), b"short", 1)),
        (TypeError, lambda hub: hub.open(1, "settings", OWNER, 1)),
        (ValueError, lambda hub: hub.failed(1, command.id, "perhaps")),
        (ValueError, lambda hub: hub.session(1, "asleep")),
        (ValueError, lambda hub: hub.watch(1, command.id, 1, "eaten")),
        (TypeError, lambda hub: hub.disconnect(1)),
        (fencepost.ConfigError, lambda hub: hub.acquire(1, key, 0)),
        (fencepost.ConfigError, lambda _: Hub("etcd", 1)),
        (fencepost.ConfigError, lambda _: Settings("{}")),
        (fencepost.ConfigError, lambda _: Settings("not json")),
        (fencepost.ConfigError, lambda _: Settings('{"kind": "redis-string", "name": "a", "tll": 1}')),
    ]
    for kind, call in calls:
        with pytest.raises(kind):
            call(hub)


def test_failures_and_notices() -> None:
    hub, key, command = asking()
    hub.reply(1_000_100, command.id, [0, 5000, b"somebody"])
    outputs, _ = drain(hub)
    subscribe = next(each for each in outputs if isinstance(each, Command))
    assert (subscribe.key, subscribe.operation, subscribe.arguments) == (
        0,
        "subscribe",
        (b"{stock/42}:released",),
    )
    hub.reply(1_000_200, subscribe.id, None)
    (again,), _ = drain(hub)
    hub.reply(1_000_300, again.id, [0, 5000, b"somebody"])  # type: ignore[union-attr]
    hub.message(1_000_400, subscribe.id)
    (hinted,), _ = drain(hub)
    assert isinstance(hinted, Command)
    hub.error_reply(1_000_500, hinted.id, "WRONGTYPE Operation against a key holding the wrong kind of value")
    (refused, *_), _ = drain(hub)
    assert isinstance(refused, Event)
    assert (refused.name, refused.reason, refused.code, refused.command) == (
        "refused",
        "wrong-type",
        310,
        hinted.id,
    )
    assert refused.detail is not None
    assert refused.detail.startswith("WRONGTYPE")
    hub.gone(1_000_600, subscribe.id)
    assert key


def test_two_hubs_in_memory() -> None:
    server = MemoryServer()
    ours, theirs = server.connect(1, 7), server.connect(1, 8)
    keys = [hub.open(1, zookeeper_settings(), os.urandom(16), 1) for hub in (ours, theirs)]
    ours.acquire(1, keys[0])
    theirs.acquire(1, keys[1])
    first, second = drain(ours)[0], drain(theirs)[0]
    assert [event.name for event in first if isinstance(event, Event)] == ["acquired"]
    assert [event.name for event in second if isinstance(event, Event)] == ["queued"]
    ours.release(2, keys[0])
    assert [event.name for event in drain(ours)[0] if isinstance(event, Event)] == ["released"]
    assert theirs.id in server.take_woken()
    assert [event.name for event in drain(theirs)[0] if isinstance(event, Event)] == ["acquired"]
    with pytest.raises(fencepost.MisuseError):
        theirs.done(1, 1, 1)
    theirs.disconnect(3)
    assert [event.name for event in drain(theirs)[0] if isinstance(event, Event)] == ["lost"]


def test_objects_say_what_they_are() -> None:
    hub, _, command = asking()
    assert "EVALSHA" in repr(command)
    assert "retry" in repr(hub.poll_output())
    assert "redis" in repr(hub)
    assert "stock/42" in repr(redis_settings())
    assert redis_settings().family == "redis"
    address = Address("zk://a,b:2182/shop?session_timeout=500")
    assert (address.kind, address.family, address.hosts) == ("zookeeper", "zookeeper", ["a:2181", "b:2182"])
    assert (address.prefix, address.session_timeout, address.name) == ("shop", 500_000, "")
    assert 0 < now() <= now()


def test_the_documented_loop(redis_server: RedisBackend) -> None:
    example = Path(__file__).parent.parent / "examples" / "hub_loop.py"
    command = [sys.executable, str(example), redis_server.address, redis_server.name()]
    redis_server.client.set(redis_server.name(), "somebody else", px=60000)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline().split() == ["queued"]
        redis_server.delete(redis_server.name())
        rest, _ = program.communicate(timeout=LONG)
    words = [line.split()[0] for line in rest.splitlines()]
    assert [word for word in words if word != "extended"] == ["acquired", "released"]
    assert program.returncode == 0


def test_a_replicas_answer_is_known() -> None:
    replica = "READONLY You can't write against a read only replica."
    wrapped = f"ERR Error running script (call to f_1234): @user_script:1: @user_script: 1: -{replica}"
    assert is_from_replica(replica)
    assert is_from_replica(wrapped)
    assert not is_from_replica("LOADING Redis is loading the dataset in memory")


def test_a_close_returns_the_machine_that_is_not_used_any_more() -> None:
    hub = MemoryServer().connect(1, 7)
    first, second = (hub.open(1, zookeeper_settings(owner="anna"), os.urandom(16), 1) for _ in range(2))
    for key in (first, second):
        hub.acquire(1, key)
        drain(hub)
    assert hub.close(2, first) is None
    assert hub.serves(first)
    assert hub.close(2, second) == first
    assert not hub.serves(first)
    assert hub.close(2, second) is None
    key = hub.open(3, zookeeper_settings(), os.urandom(16), 1)
    assert hub.close(3, key) == key
