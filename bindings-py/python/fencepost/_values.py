"""Arguments of the public API as the core wants them: durations in whole microseconds, settings as tagged
data.
"""

from __future__ import annotations

import json
import math
from datetime import timedelta
from numbers import Real
from typing import Any, TypeAlias

from ._fencepost import Settings
from .errors import ConfigError

Duration: TypeAlias = "float | timedelta"
"""Seconds as a number, or a timedelta."""

_LARGEST = 2**63 - 1
_KINDS = {"zookeeper": "zookeeper-mutex", "redis": "redis-string"}


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


def settings(
    family: str,
    name: object,
    *,
    prefix: str = "",
    renew: object = None,
    **durations: object,
) -> Settings:
    """The checked settings of a lock; options that are None are left to the core."""
    if not isinstance(name, str):
        raise unreadable(f'the name of a lock is {name!r}: give a text, such as "stock/42"')
    data: dict[str, object] = {"kind": _KINDS[family], "name": name}
    if family == "zookeeper":
        data["prefix"] = prefix
    if renew is not None:
        if not isinstance(renew, bool):
            raise unreadable(f"renew is {renew!r}: give True or False")
        data["renew"] = renew
    for what, value in durations.items():
        if value is not None:
            data[what] = micros(what, value)
    try:
        return Settings(json.dumps(data, ensure_ascii=False))
    except UnicodeEncodeError:
        raise ConfigError(
            f"{name!r} cannot name a lock here: it holds half a character (a lone surrogate)",
            102,
            "invalid-name",
        ) from None


def patience(timeout: object, blocking: object) -> int | bool:
    """Microseconds of patience; True: for ever, False: none."""
    if not isinstance(blocking, bool):
        raise unreadable(f"blocking is {blocking!r}: give True or False")
    if not blocking:
        if timeout is not None:
            raise unreadable("a try does not wait: give a timeout, or blocking=False, not both")
        return False
    return True if timeout is None else micros("timeout", timeout)
