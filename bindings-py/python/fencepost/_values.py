"""Converts arguments of the public API to the core's form: durations in microseconds, settings as JSON."""

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
"""The layouts: the names that the contenders' nodes have on ZooKeeper."""
SharedLayout: TypeAlias = Literal["curator", "kazoo"]
"""The layouts that have readers and semaphores."""
OnLost: TypeAlias = Literal["cancel", "keep"]
"""What happens to the body of an ``async with`` when its grant is lost."""

_LARGEST = 2**63 - 1
MULTI_LOCK = "multi-lock"
_KINDS = {("lock", "redis"): "redis-string", ("lock", "zookeeper"): "zookeeper-mutex"}
"""The core's name of a kind of lock, by family. The other kinds on ZooKeeper have the same name here and
there.
"""

_DURATIONS = frozenset({"ttl", "margin", "poll", "max_hold", "answer_within"})
_FLAGS = frozenset({"renew", "revocable"})
_REDIS_ONLY = frozenset({"ttl", "renew", "margin", "poll"})
_ZOOKEEPER_ONLY = frozenset({"layout", "node_prefix", "identifier", "revocable", "permits"})
_ELSEWHERE = {
    "zookeeper": "it is for Redis. On ZooKeeper a grant lasts as long as the session: "
    "give a session_timeout in the address, or the option max_hold",
    "redis": "it is for ZooKeeper. Redis has only lock(), "
    "with the options ttl, renew, margin, poll, max_hold, answer_within and owner",
}


def unreadable(text: str) -> ConfigError:
    """The error for a value of a wrong type."""
    return ConfigError(text, 109, "unreadable-settings")


def micros(what: str, value: object) -> int:
    """A duration in microseconds. The core checks whether it is positive."""
    if isinstance(value, timedelta):
        whole = value // timedelta(microseconds=1)
    elif isinstance(value, Real) and not isinstance(value, bool):
        try:
            exact = float(value) * 1e6
        except OverflowError:
            large: Any = value
            exact = math.inf if large > 0 else -math.inf
        if math.isnan(exact):
            raise unreadable(f"{what} is {value!r}: give seconds as a number, or a timedelta")
        limited = max(-_LARGEST, min(exact, _LARGEST))
        # A duration that is not zero is at least one microsecond.
        whole = round(limited) or (limited > 0) - (limited < 0)
    else:
        raise unreadable(f"{what} is {value!r}: give seconds as a number, or a timedelta")
    return max(-_LARGEST, min(whole, _LARGEST))


def positive(what: str, value: object) -> int:
    """A duration in microseconds that has to be positive. Raises ConfigError."""
    given = micros(what, value)
    if given <= 0:
        raise unreadable(f"{what} is {value!r}: give more than 0 seconds")
    return given


def plain_kind(family: str, fair: object) -> str:
    """The kind of a lock: ``single`` for an unfair one."""
    if fair is None:
        return "lock"
    if family == "redis":
        raise unknown_option("fair", family)
    return "lock" if _flag("fair", fair) else "single"


def settings(family: str, prefix: str, kind: str, name: object, options: Mapping[str, object]) -> Settings:
    """The checked settings of a lock of a kind (``lock``, ``reader``, ``election`` …). For options that are
    None, the core has a default. The family ``memory`` takes the options of both families, and checks them.
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
"""The core's name of a kind of lock in an inspection. The other kinds have the same name here and there."""


def inspection_settings(
    prefix: str, kind: str, name: str, options: Mapping[str, object], extra: Mapping[str, object]
) -> Settings:
    """The settings of an inspection of a lock with these options."""
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
    """The error for an option or a kind that only the other family has."""
    return ConfigError(f"unknown option {option!r}: {_ELSEWHERE[family]}", 108, "unknown-option")


_INVALID_NAME, _INVALID_OPTION = (102, "invalid-name"), (110, "invalid-option")


_MOST_SHOWN = 64
"""The number of characters of a name that an error repeats at most."""


def shown(name: str) -> str:
    """A name for an error's text: the whole name, or the beginning of a long one."""
    return name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}…"


def text(what: str, value: object, example: str, otherwise: tuple[int, str] = _INVALID_OPTION) -> str:
    """A str that can be encoded in UTF-8. Raises ConfigError."""
    if not isinstance(value, str):
        raise unreadable(f"{what} is {value!r}: give a str, such as {example!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"{what} is {shown(value)!r}, which contains a lone surrogate and cannot be encoded in UTF-8: "
            "remove the surrogate",
            *otherwise,
        ) from None
    return value


def texts(what: str, values: object) -> list[str]:
    """A list of such strs. Raises ConfigError."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise unreadable(f'{what} are {values!r}: give a list of str, such as ["stock/42", "stock/43"]')
    return [text("the name of a lock", value, "stock/42", _INVALID_NAME) for value in values]


def _flag(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise unreadable(f"{what} is {value!r}: give True or False")
    return value


def _whole(what: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise unreadable(f"{what} is {value!r}: give an int")
    return max(-_LARGEST, min(value, _LARGEST))


_READ: dict[str, Callable[[str, object], object]] = {
    **dict.fromkeys(_DURATIONS, micros),
    **dict.fromkeys(_FLAGS, _flag),
    "permits": _whole,
    "names": texts,
    "layout": lambda what, value: text(what, value, "kazoo"),
    "node_prefix": lambda what, value: text(what, value, "node_"),
    "identifier": lambda what, value: text(what, value, "till-7"),
    "owner": lambda what, value: text(what, value, "request-17"),
}


def patience(timeout: object, blocking: object) -> int | bool:
    """How long an acquire waits, in microseconds. True: without a limit. False: not at all."""
    if not isinstance(blocking, bool):
        raise unreadable(f"blocking is {blocking!r}: give True or False")
    if not blocking:
        if timeout is not None:
            raise unreadable(
                f"timeout is {timeout!r} and blocking is False: blocking=False does not wait, so give only "
                "one of the two"
            )
        return False
    if timeout is None:
        return True
    limit = micros("timeout", timeout)
    check_timeout(limit)
    return limit
