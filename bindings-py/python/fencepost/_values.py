"""Arguments of the public API as the core wants them: durations in whole microseconds, settings as tagged
data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from numbers import Real
from typing import Any, Literal, TypeAlias

from ._fencepost import Settings, check_timeout
from .errors import ConfigError

Duration: TypeAlias = "float | timedelta"
"""Seconds as a number, or a timedelta."""

Layout: TypeAlias = Literal["curator", "kazoo", "plain"]
"""The names that contenders have on ZooKeeper."""
SharedLayout: TypeAlias = Literal["curator", "kazoo"]
"""Those in which a lock can be shared."""
OnLost: TypeAlias = Literal["cancel", "keep"]
"""What becomes of the body of an ``async with`` whose lock is lost."""

_LARGEST = 2**63 - 1
MULTI_LOCK = "multi-lock"
_KINDS = {("lock", "redis"): "redis-string", ("lock", "zookeeper"): "zookeeper-mutex"}
"""What the core calls a kind of lock on a family; on ZooKeeper the others have their own names."""

_DURATIONS = frozenset({"ttl", "margin", "poll", "max_hold", "answer_within"})
_FLAGS = frozenset({"renew", "revocable"})
_REDIS_ONLY = frozenset({"ttl", "renew", "margin", "poll"})
_ZOOKEEPER_ONLY = frozenset({"layout", "node_prefix", "identifier", "revocable", "permits"})
_ELSEWHERE = {
    "zookeeper": "on ZooKeeper a lock lasts as long as its session: "
    "give the address a session_timeout, or the lock a max_hold",
    "redis": "only ZooKeeper has it; on Redis there are locks, "
    "with the options ttl, renew, margin, poll, max_hold and answer_within",
}


def unreadable(text: str) -> ConfigError:
    """The error for a value of a type or kind that cannot be read at all."""
    return ConfigError(text, 109, "unreadable-settings")


def micros(what: str, value: object) -> int:
    """A duration in microseconds. Whether it is positive is for the core to judge."""
    if isinstance(value, timedelta):
        whole = value // timedelta(microseconds=1)
    elif isinstance(value, Real) and not isinstance(value, bool):
        try:
            exact = float(value) * 1e6
        except OverflowError:
            large: Any = value
            exact = math.inf if large > 0 else -math.inf
        if math.isnan(exact):
            raise unreadable(f"{what} is not a number: give seconds, or a timedelta")
        limited = max(-_LARGEST, min(exact, _LARGEST))
        # The least that is not nothing is a microsecond.
        whole = round(limited) or (limited > 0) - (limited < 0)
    else:
        raise unreadable(f"{what} is {value!r}: give seconds as a number, or a timedelta")
    return max(-_LARGEST, min(whole, _LARGEST))


def positive(what: str, value: object) -> int:
    """A duration in microseconds that must not be nothing. Raises ConfigError."""
    given = micros(what, value)
    if given <= 0:
        raise unreadable(f"{what} is {value!r}: give more than 0 seconds")
    return given


def plain_kind(family: str, fair: object) -> str:
    """What kind a plain lock is: an unfair one is a single node."""
    if fair is None:
        return "lock"
    if family == "redis":
        raise unknown_option("fair", family)
    return "lock" if _flag("fair", fair) else "single"


def settings(family: str, prefix: str, kind: str, name: object, options: Mapping[str, object]) -> Settings:
    """The checked settings of a lock of a kind (``lock``, ``reader``, ``election`` …); options that are None
    are left to the core. ``memory`` stands for either family: it takes the options of both, and checks them.
    """
    if family == "memory":
        leases = {option: value for option, value in options.items() if option in _REDIS_ONLY}
        if any(value is not None for value in leases.values()):
            settings("redis", "", "lock", "memory", leases)
        options = {option: value for option, value in options.items() if option not in leases}
        family = "zookeeper"
    if family == "redis" and kind != "lock":
        raise unknown_option({"reader": "read_write_lock", MULTI_LOCK: "multi_lock"}.get(kind, kind), family)
    data: dict[str, object] = {"kind": _KINDS.get((kind, family), f"{family}-{kind}")}
    if kind != MULTI_LOCK:
        data["name"] = text("the name of a lock", name, "stock/42", _INVALID_NAME)
    if family == "zookeeper":
        data["prefix"] = prefix
    foreign = _ZOOKEEPER_ONLY if family == "redis" else _REDIS_ONLY
    for option, value in options.items():
        if value is None and option != "permits":
            continue
        if option in foreign:
            raise unknown_option(option, family)
        data[option] = _READ[option](option, value)
    return Settings(json.dumps(data, ensure_ascii=False))


_OF = {"lock": "mutex", "reader": "read-write", "writer": "read-write"}
"""What an inspection calls a kind of lock; the others have their own names."""


def inspection_settings(
    prefix: str, kind: str, name: str, options: Mapping[str, object], extra: Mapping[str, object]
) -> Settings:
    """The settings of a look at a lock that has these options."""
    data = {
        "kind": "zookeeper-inspection",
        "name": name,
        "prefix": prefix,
        "of": _OF.get(kind, kind),
        **extra,
    }
    for option in ("layout", "node_prefix", "permits", "answer_within"):
        if options.get(option) is not None:
            data[option] = _READ[option](option, options[option])
    return Settings(json.dumps(data, ensure_ascii=False))


def unknown_option(option: str, family: str) -> ConfigError:
    """The error for what only the other family has."""
    return ConfigError(f"unknown option {option!r}: {_ELSEWHERE[family]}", 108, "unknown-option")


_INVALID_NAME, _INVALID_OPTION = (102, "invalid-name"), (110, "invalid-option")


_MOST_SHOWN = 64
"""The most of a name that an error repeats, in characters."""


def shown(name: str) -> str:
    """A name in an error's text: all of it, or its beginning."""
    return name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}…"


def text(what: str, value: object, example: str, otherwise: tuple[int, str] = _INVALID_OPTION) -> str:
    """A text that a server takes."""
    if not isinstance(value, str):
        raise unreadable(f"{what} is {value!r}: give a text, such as {example!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"{what} is {shown(value)!r}, which holds half a character (a lone surrogate)", *otherwise
        ) from None
    return value


def texts(what: str, values: object) -> list[str]:
    """Several texts that a server takes."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise unreadable(f'{what} are {values!r}: give a list, such as ["stock/42", "stock/43"]')
    return [text("the name of a lock", value, "stock/42", _INVALID_NAME) for value in values]


def _flag(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise unreadable(f"{what} is {value!r}: give True or False")
    return value


def _whole(what: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise unreadable(f"{what} is {value!r}: give a whole number")
    return max(-_LARGEST, min(value, _LARGEST))


_READ: dict[str, Callable[[str, object], object]] = {
    **dict.fromkeys(_DURATIONS, micros),
    **dict.fromkeys(_FLAGS, _flag),
    "permits": _whole,
    "names": texts,
    "layout": lambda what, value: text(what, value, "kazoo"),
    "node_prefix": lambda what, value: text(what, value, "node_"),
    "identifier": lambda what, value: text(what, value, "till-7"),
}


def patience(timeout: object, blocking: object) -> int | bool:
    """Microseconds of patience; True: for ever, False: none."""
    if not isinstance(blocking, bool):
        raise unreadable(f"blocking is {blocking!r}: give True or False")
    if not blocking:
        if timeout is not None:
            raise unreadable("a try does not wait: give a timeout, or blocking=False, not both")
        return False
    if timeout is None:
        return True
    limit = micros("timeout", timeout)
    check_timeout(limit)
    return limit
