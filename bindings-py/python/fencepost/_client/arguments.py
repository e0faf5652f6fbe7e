"""Converts arguments of the public API to the core's form: durations in microseconds, settings as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from numbers import Real
from typing import Any, Literal, TypeAlias

from .._engine.wording import shown, unreadable
from .._fencepost import Settings, check_timeout, option_type
from ..errors import ConfigError

Duration: TypeAlias = "float | timedelta"
"""Seconds as a number, or a timedelta."""

Layout: TypeAlias = Literal["curator", "kazoo", "plain"]
"""The layouts: the names that the contenders' nodes have on ZooKeeper."""
SharedLayout: TypeAlias = Literal["curator", "kazoo"]
"""The layouts that have readers and semaphores."""
OnLost: TypeAlias = Literal["cancel", "keep"]
"""The reaction to a lost grant in an ``async with``: the client cancels the body, or the body runs to its
end.
"""
OnLeaseEnd: TypeAlias = Literal["retake", "block", "indeterminate"]
"""The policy for a claim when the lease of an earlier attempt has ended."""

RawSettings: TypeAlias = "dict[str, object]"
"""Settings before the check."""

_LARGEST = 2**63 - 1
_LONGEST = timedelta(days=365) // timedelta(microseconds=1)
"""The longest duration, in microseconds. The core has the same limit."""


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
    """A duration in microseconds, in the range of all durations. Raises ConfigError."""
    given = micros(what, value)
    if given <= 0:
        raise ConfigError(f"{what} is {value!r}: give more than 0 seconds", 103, "not-positive")
    if given > _LONGEST:
        raise ConfigError(f"{what} is {value!r}: give at most 365 days", 105, "too-long")
    return given


_NO_OPTIONS = frozenset({"self", "name", "names", "permits", "on_lost", "scope", "codec"})
"""The parameters of the constructors that are not options, or that are required."""


def options_of(arguments: Mapping[str, object]) -> dict[str, object]:
    """The options among the arguments of a constructor. None means that an option is not given."""
    return {name: value for name, value in arguments.items() if value is not None and name not in _NO_OPTIONS}


def settings(server: str, prefix: str, kind: str, name: object, options: Mapping[str, object]) -> RawSettings:
    """The settings of a lock, for the core: the server (``zookeeper``, ``redis`` or ``memory``), the kind of
    lock, and the options. A multi-lock has its names among the options.
    """
    raw: RawSettings = {"server": server, "kind": kind}
    if prefix:
        raw["prefix"] = text("the prefix", prefix, "/shop")
    if "names" not in options:
        raw["name"] = text("the name of a lock", name, "stock/42", _INVALID_NAME)
    return _with_options(raw, options)


def scope_settings(server: str, prefix: str, scope: object, options: Mapping[str, object]) -> RawSettings:
    """The settings of a scope of idempotent operations, for the core."""
    raw: RawSettings = {"server": server, "kind": "claim", "scope": text("the scope", scope, "payments")}
    if prefix:
        raw["prefix"] = text("the prefix", prefix, "/shop")
    return _with_options(raw, options)


def _with_options(raw: RawSettings, options: Mapping[str, object]) -> RawSettings:
    for option, value in options.items():
        kind_of_value = option_type(option)
        # The core refuses an option that it does not know.
        raw[option] = value if kind_of_value is None else _READ[kind_of_value](option, value)
    return raw


def check(raw: RawSettings) -> Settings:
    """Lets the core check settings. Raises ConfigError."""
    return Settings(json.dumps(raw, ensure_ascii=False))


_INVALID_NAME, _INVALID_OPTION = (102, "invalid-name"), (110, "invalid-option")


def text(what: str, value: object, example: str = "", otherwise: tuple[int, str] = _INVALID_OPTION) -> str:
    """A str that can be encoded in UTF-8. Raises ConfigError."""
    if not isinstance(value, str):
        raise unreadable(f"{what} is {value!r}: give a str" + (f", such as {example!r}" if example else ""))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"{what} is {shown(value)!r}, which contains a lone surrogate and cannot be encoded in UTF-8: "
            "remove the surrogate",
            *otherwise,
        ) from None
    return value


def binary(what: str, value: object) -> bytes:
    """Bytes, or a str that can be encoded in UTF-8. Raises ConfigError."""
    if isinstance(value, str):
        return text(what, value).encode()
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise unreadable(f"{what} is {value!r}: give bytes or a str, such as a digest")
    return bytes(value)


def texts(what: str, values: object) -> list[str]:
    """A list of strs that can be encoded in UTF-8. Raises ConfigError."""
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
    "duration": micros,
    "whole": _whole,
    "flag": _flag,
    "text": text,
    "texts": texts,
}
"""The function that converts a value, for each type of option in the core."""


def acquire_timeout(timeout: object, blocking: object) -> int | bool:
    """How long an acquire waits, in microseconds. True: no limit. False: it does not wait."""
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
    if limit <= 0:
        raise ConfigError(
            f"timeout is {timeout!r}: give more than 0 seconds, or blocking=False to try without waiting",
            103,
            "not-positive",
        )
    check_timeout(limit)
    return limit
