"""Calls all public functions with any arguments: they raise only the documented exceptions, and the hub still
works afterwards.

The cases are always the same. ``FENCEPOST_CASES`` sets another number of cases.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from fencepost._fencepost import misuse
from fencepost.hub import Address, Command, Event, Hub, MemoryServer, Scope, Settings, Wait
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CASES = int(os.environ.get("FENCEPOST_CASES", "80"))
fuzz = settings(
    max_examples=CASES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# The exceptions of Python's own conversions, and the package's errors. A panic is not among them.
HUB_ERRORS = (fencepost.ConfigError, fencepost.MisuseError, TypeError, ValueError, OverflowError)
SECOND = 1_000_000
SESSION = 77
# A deadline beyond this is the same as no deadline.
FAR = 2**60
MOST_OUTPUTS = 300

texts = st.text(st.characters(categories=["L", "N", "P", "Zs", "Cc", "Cs", "Co"]), max_size=20)
numbers = (
    st.sampled_from([0, 1, -1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, 10**400])
    | st.integers(-(2**66), 2**66)
    | st.floats()
)
scalars = st.none() | st.booleans() | numbers | texts | st.binary(max_size=20) | st.builds(object)
errors = st.builds(RuntimeError, texts) | st.builds(ValueError)
trees = st.recursive(
    scalars | errors,
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=8,
)
odd = trees | st.builds(timedelta, days=st.integers(-999_999_999, 999_999_999)) | st.just(math.nan)

times = st.integers(0, 60).map(lambda seconds: seconds * SECOND)
small = st.integers(0, 12)
signed = st.integers(-(2**63), 2**63 - 1) | st.just(SESSION)
acquire_timeout = st.integers(-10, 10 * SECOND) | st.none()
names = st.sampled_from(["stock", "", "a//b", "lock-0000000001", "x" * 5000]) | texts
states = ["connected", "suspended", "expired", "auth-failed", "closed"]
words = st.sampled_from([*states, "deleted", "changed", "gone", "not-sent", "unknown"])
redis_values = st.sampled_from(
    [
        [1, b"17"],
        b"claimed 1790000000000001 0",
        b"completed",
        b"released",
        b"lost superseded",
        [0, 250, b"x"],
        [0, 250],
        [3, b"x"],
        [0, None],
        [0, b"x"],
        [2],
        None,
        [],
        RuntimeError("NOSCRIPT"),
    ]
)

VERBS: dict[str, list[st.SearchStrategy[Any]]] = {
    "acquire": [times, small, acquire_timeout],
    "try_acquire": [times, small],
    "extend": [times, small],
    "release": [times, small],
    "complete": [times, small, texts, st.binary(max_size=20)],
    "leave": [times, small],
    "cancel": [times, small],
    "created": [times, small, signed, names, signed],
    "children": [times, small, signed, st.lists(names, max_size=4)],
    "data": [times, small, signed, st.binary(max_size=8), signed, signed, st.integers(-(2**31), 2**31 - 1)],
    "done": [times, small, signed],
    "error": [times, small, signed, st.integers(-130, 10)],
    "reply": [times, small, redis_values],
    "error_reply": [times, small, texts],
    "failed": [times, small, words],
    "session": [times, words, signed, times],
    "watch": [times, small, signed, words],
    "message": [times, small],
    "gone": [times, small],
    "handle_timeout": [times],
    "poll_output": [small],
    "drain": [st.builds(list)],
    "close": [times, small],
    "shutdown": [times],
    "disconnect": [times],
}

# The methods whose second argument is a command: mostly a pending one.
OUTCOMES = {
    "created",
    "children",
    "data",
    "done",
    "error",
    "reply",
    "error_reply",
    "failed",
    "watch",
    "message",
}

settings_data = st.fixed_dictionaries(
    {"kind": st.sampled_from(["zookeeper-mutex", "redis-string"]) | odd, "name": names | odd},
    optional={
        what: st.integers(-1, 10 * SECOND) | odd
        for what in ("prefix", "ttl", "margin", "renew", "poll", "answer_within", "max_hold", "other")
    },
)


def mostly(right: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly valid arguments, so that calls make progress."""
    return st.sampled_from(range(8)).flatmap(lambda nth: odd if nth == 0 else right)


def a_call(name: str) -> st.SearchStrategy[tuple[str, tuple[Any, ...]]]:
    right = st.tuples(*(mostly(kind) for kind in VERBS[name]))
    wrong_number = st.lists(odd, max_size=8).map(tuple)
    arguments = st.sampled_from(range(12)).flatmap(lambda nth: wrong_number if nth == 0 else right)
    return arguments.map(lambda arguments: (name, arguments))


# Replies are more frequent, so that machines make progress. A shutdown is final.
WEIGHTED = sorted(
    [*(set(VERBS) - {"shutdown", "disconnect"}), *OUTCOMES, *["reply"] * 6] * 2 + ["shutdown", "disconnect"]
)
calls = st.lists(st.sampled_from(WEIGHTED).flatmap(a_call), min_size=1, max_size=25)


def attempt(call: Callable[..., object], *arguments: object) -> object:
    """Calls a function, which may raise only documented exceptions."""
    try:
        return call(*arguments)
    except HUB_ERRORS:
        return None


def look_at(output: object) -> None:
    """Reads everything that an output has."""
    repr(output)
    for name in dir(output):
        if not name.startswith("_"):
            getattr(output, name)


def settings_for(family: str, name: str) -> Settings:
    kind = {"zookeeper": "zookeeper-mutex", "redis": "redis-string"}[family]
    return Settings(json.dumps({"kind": kind, "name": name}))


CLAIMS = Scope('{"server": "redis", "kind": "claim", "scope": "fuzz"}')


class Tree:
    """The part of a server that one acquire needs."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.nodes: list[str] = []

    def answer(self, now: int, command: Command) -> None:
        hub, id, path = self.hub, command.id, command.path
        match command.operation:
            case "call":
                hub.reply(now, id, [1, b"17"])
            case "subscribe" | "unsubscribe":
                hub.reply(now, id, None)
            case "create":
                made = f"{path}{len(self.nodes):010}" if command.flags == 1 else path
                self.nodes.append(made)
                hub.created(now, id, SESSION, made, len(self.nodes))
            case "children":
                inside = [node.removeprefix(f"{path}/") for node in self.nodes if node.startswith(f"{path}/")]
                hub.children(now, id, SESSION, [name for name in inside if "/" not in name])
            case "get":
                hub.data(now, id, SESSION, b"", 1, 1, SESSION, 0, 0, 0)
            case "delete":
                self.nodes = [node for node in self.nodes if node != path]
                hub.done(now, id, SESSION)
            case "sync":
                hub.done(now, id, SESSION)
            case "multi":
                # It has only checks: a mutex creates no nodes with it.
                hub.children(now, id, SESSION, [])


def assert_works(hub: Hub, now: int) -> None:
    """Checks that a whole acquire and release still works."""
    if hub.id == 0 and hub.family == "zookeeper":
        hub.session(now, "connected", SESSION, 10 * SECOND)
    tree = Tree(hub)
    key = hub.open(now, settings_for(hub.family, "works"), os.urandom(16), 5)
    hub.acquire(now, key)
    events = []
    for _ in range(MOST_OUTPUTS):
        match hub.poll_output():
            case Command() as command:
                tree.answer(now, command)
            case Event() as event if event.key == key:
                events.append(event.name)
                if event.name == "acquired":
                    hub.release(now, key)
            case Wait() as wait:
                if events and events[-1] == "released":
                    break
                now = max(now, wait.until or now)
                hub.handle_timeout(now)
    assert events[-2:] == ["acquired", "released"], events
    hub.close(now, key)


def make(kind: str) -> Hub:
    if kind == "memory":
        return MemoryServer().connect(0, 1)
    hub = Hub(kind, 1)
    if kind == "zookeeper":
        hub.session(0, "connected", SESSION, 10 * SECOND)
    return hub


@pytest.mark.parametrize("kind", ["zookeeper", "redis", "memory"])
@fuzz
@given(calls=calls)
def test_a_hub_takes_anything(kind: str, calls: list[tuple[str, tuple[Any, ...]]]) -> None:
    hub = make(kind)
    machines = [settings_for(hub.family, "stock")] * 2
    if kind == "redis":
        machines += [CLAIMS.claim("stock", b"print"), CLAIMS.look("stock")]
    for machine in machines:
        hub.acquire(0, hub.open(0, machine, os.urandom(16), 3))
    latest, over = 0, False
    begun: list[Command | Event] = []
    hub.drain(begun)
    under_way = [output.id for output in begun if isinstance(output, Command)]
    for name, arguments in calls:
        if name in OUTCOMES and under_way and len(arguments) > 1 and type(arguments[1]) is int:
            arguments = (arguments[0], under_way[arguments[1] % len(under_way)], *arguments[2:])
        given_time = arguments[0] if arguments and name not in ("poll_output", "drain") else 0
        attempt(getattr(hub, name), *arguments)
        # A shutdown and the end of a session in memory are final.
        over = over or name in ("shutdown", "disconnect")
        if isinstance(given_time, int) and 0 <= given_time < 2**64:
            latest = max(latest, given_time)
        outputs: list[Command | Event] = []
        hub.drain(outputs)
        assert len(outputs) <= MOST_OUTPUTS
        for output in outputs:
            look_at(output)
        under_way = [output.id for output in outputs if isinstance(output, Command)] + under_way
        under_way = under_way[:6]
    look_at(hub)
    if latest < FAR and not over:
        assert_works(hub, latest)


@fuzz
@given(
    arguments=st.tuples(mostly(times), odd, mostly(st.binary(min_size=16, max_size=16)), mostly(small)),
    family=mostly(words),
    seed=odd,
    now=mostly(times),
)
def test_machines_are_opened_with_anything(
    arguments: tuple[Any, ...], family: object, seed: object, now: object
) -> None:
    untyped: Any = Hub
    attempt(untyped, family, seed)
    attempt(untyped, "redis", seed)
    server: Any = MemoryServer()
    attempt(server.connect, now, seed)
    for kind in ("zookeeper", "redis", "memory"):
        hub: Any = make(kind)
        attempt(hub.open, *arguments)
        time, _, owner, seed = arguments
        attempt(hub.open, time, settings_for("zookeeper", "a"), owner, seed)
        assert_works(hub, 60 * SECOND) if not isinstance(time, int) or time < FAR else None


@fuzz
@given(data=settings_data, raw=trees, name=mostly(texts))
def test_settings_and_addresses_are_read_from_anything(
    data: dict[str, Any], raw: object, name: object
) -> None:
    make_settings: Any = Settings
    text = json.dumps(data, default=repr)
    made = attempt(make_settings, text)
    if made is not None:
        look_at(made)
    attempt(make_settings, raw)
    make_scope: Any = Scope
    attempt(make_scope, text)
    attempt(make_scope, raw)
    make_address: Any = Address
    for form in ("{}", "memory:{}", "zk://{}", "zk://h/{}", "zk://h?session_timeout={}", "redis://{}"):
        address = attempt(make_address, form.format(name))
        if address is not None:
            look_at(address)
    attempt(make_address, raw)
    attempt(misuse, name)


@fuzz
@given(
    name=mostly(names),
    options=st.dictionaries(
        st.sampled_from(["ttl", "renew", "max_hold", "margin", "poll", "answer_within"]), odd, max_size=3
    ),
    timeout=odd,
    blocking=mostly(st.booleans()),
    url=odd,
    prefix=odd,
)
def test_a_client_takes_anything(
    name: Any, options: dict[str, Any], timeout: Any, blocking: Any, url: Any, prefix: Any
) -> None:
    config_error_or_nothing(lambda: fencepost.Client(url, prefix=prefix))
    if not isinstance(url, str) or attempt(Address, url) is None:
        config_error_or_nothing(lambda: fencepost.connect(url))
    with fencepost.connect("memory:") as client:
        lock = config_error_or_nothing(lambda: client.lock(name, **options)) or client.lock("stock")
        for call in (lambda: lock.acquire(timeout, blocking=blocking), lambda: lock.acquire(timeout)):
            grant = config_error_or_nothing(call)
            if grant is not None:
                grant.release()
        config_error_or_nothing(lambda: lock.hold(timeout, blocking=blocking))
        with client.lock("works") as grant:
            assert grant.fence is not None


@settings(fuzz, max_examples=max(1, CASES // 3))
@given(name=mostly(names), on_lost=odd, timeout=odd, blocking=mostly(st.booleans()), url=odd)
def test_an_asyncio_client_takes_anything(
    name: Any, on_lost: Any, timeout: Any, blocking: Any, url: Any
) -> None:
    async def use() -> None:
        config_error_or_nothing(lambda: fencepost.asyncio.Client(url))
        async with fencepost.asyncio.connect("memory:") as client:
            config_error_or_nothing(lambda: client.lock(name, on_lost=on_lost))
            lock = config_error_or_nothing(lambda: client.lock(name)) or client.lock("stock")
            try:
                grant = await lock.acquire(timeout, blocking=blocking)
            except fencepost.ConfigError:
                grant = None
            if grant is not None:
                await grant.release()
            async with client.lock("works") as grant:
                assert grant.fence is not None

    asyncio.run(use())


def config_error_or_nothing(call: Callable[[], Any]) -> Any:
    """Returns the result of the call, or None for a ConfigError. Any other exception is a failure of the
    test.
    """
    try:
        return call()
    except fencepost.ConfigError:
        return None
