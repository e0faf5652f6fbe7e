"""The part of a scope of idempotent operations that is the same in both clients: everything that does not
wait.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._engine.claim import ClaimContender
from .._engine.contender import Contender, State
from .._engine.record import Record
from .._engine.wording import shown, unreadable
from .._fencepost import Scope, Settings
from ..errors import ConfigError
from .arguments import Duration, binary, micros, scope_settings, text
from .codec import Codec

T = TypeVar("T")
_LONGEST_TAG = 255
"""The largest number of bytes of a tag. The core has the same limit."""


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """The outcome of an operation."""

    value: T
    replayed: bool
    """Whether an earlier attempt did the operation, and ``value`` is its stored result."""


class Operations:
    """The checked scope, with the conversions of arguments and results."""

    __slots__ = ("codec", "scope", "settings")

    def __init__(
        self, server: str, prefix: str, scope: str, options: Mapping[str, object], codec: object
    ) -> None:
        raw = scope_settings(server, prefix, scope, options)
        self.settings = Scope(json.dumps(raw, ensure_ascii=False))
        self.scope = scope
        self.codec = checked_codec(codec)

    def name(self, key: object) -> str:
        """The name of an operation, for the texts of errors."""
        return f"{self.scope}/{key}"

    def claim(self, key: object, fingerprint: object) -> Settings:
        """The settings of a claim."""
        return self.settings.claim(_key(key), _fingerprint(fingerprint))

    def consume(self, token: object, binding: object, fingerprint: object) -> Settings:
        """The settings of a claim with a token."""
        bound = binary("the binding", binding)
        return self.settings.consume(_key(token, "the token"), bound, _fingerprint(fingerprint))

    def issue(self, token: object, binding: object, life: Duration | None) -> Settings:
        """The settings of a request that issues a token."""
        limit = None if life is None else micros("life", life)
        return self.settings.issue(_key(token, "the token"), binary("the binding", binding), limit)

    def register(self, key: object, value: object, binding: object, fingerprint: object) -> Settings:
        """The settings of a request that claims and completes an operation at once."""
        bound = None if binding is None else binary("the binding", binding)
        result = self.codec.to_bytes(self.name(key), value)
        return self.settings.register(_key(key), bound, _fingerprint(fingerprint), self.codec.tag, result)

    def update(
        self, key: object, value: object, operation: object, version: object, fingerprint: object
    ) -> Settings:
        """The settings of an update."""
        if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**53:
            raise unreadable(f"the version is {version!r}: give the version of the present value, or 0")
        result = self.codec.to_bytes(self.name(key), value)
        by = text("the operation", operation, "sell-7")
        print_ = _fingerprint(fingerprint)
        return self.settings.update(_key(key), by, version, print_, self.codec.tag, result)

    def look(self, key: object) -> Settings:
        """The settings of a look."""
        return self.settings.look(_key(key))

    def settle(self, key: object, record: object, value: object) -> Settings:
        """The settings of an operator's result."""
        result = self.codec.to_bytes(self.name(key), value)
        return self.settings.settle(_key(key), _guard(record), self.codec.tag, result)

    def forget(self, key: object, record: object) -> Settings:
        """The settings of an operator's deletion."""
        return self.settings.forget(_key(key), _guard(record))

    def sweep(self) -> Settings:
        """The settings of a sweep."""
        return self.settings.sweep()

    def derive(self, key: str, step: object) -> str:
        """A key for one step of an operation."""
        return self.settings.derive(key, text("the step", step, "charge"))

    def registered(self, key: str, value: Any, contender: Contender) -> Outcome[Any]:
        """The outcome of a register or a settle. Raises if the server has refused it."""
        record = _record_of(contender)
        if contender.state is not State.REPLAYED or record is None:
            return Outcome(value, False)
        return Outcome(self.codec.value_of(self.name(key), record), True)


def checked_codec(codec: object) -> Codec:
    """Returns the codec. Raises ConfigError if it is not a valid codec."""
    if not isinstance(codec, Codec):
        raise unreadable(f"codec is {codec!r}: give a fencepost.Codec, such as fencepost.JSON")
    tag = text("the tag of the codec", codec.tag, "pickle")
    if len(tag.encode()) > _LONGEST_TAG:
        raise ConfigError(
            f"the tag of the codec is {shown(tag)!r}, which has {len(tag.encode())} bytes in UTF-8: give at "
            f"most {_LONGEST_TAG}",
            110,
            "invalid-option",
        )
    for what, function in (("encode", codec.encode), ("decode", codec.decode)):
        if not callable(function):
            raise unreadable(f"{what} of the codec {shown(tag)!r} is {function!r}: give a function")
    return codec


def _key(key: object, what: str = "the key") -> str:
    return text(what, key, "order-17")


def _fingerprint(fingerprint: object) -> bytes:
    return binary("the fingerprint", fingerprint)


def _guard(record: object) -> int:
    if not isinstance(record, Record):
        raise unreadable(f"the record is {record!r}: give one that look() has returned")
    return record.guard


def updated(contender: Contender) -> Outcome[int]:
    """The new version after an update. Raises if the server has refused it."""
    record = _record_of(contender)
    return Outcome(0 if record is None else record.version, contender.state is State.REPLAYED)


def looked(contender: Contender) -> Record | None:
    """The record that a look has found. Raises if the server has refused the look."""
    return _record_of(contender)


def swept(contender: Contender) -> int:
    """How many records a sweep has deleted. Raises if the server has refused it."""
    if contender.state is not State.SWEPT:
        raise contender.error()
    return 0 if contender.event is None else contender.event.deleted or 0


def done(contender: Contender) -> None:
    """Raises if the server has refused a single step."""
    _record_of(contender)


def _record_of(contender: Contender) -> Record | None:
    if contender.state not in (State.COMPLETED, State.REPLAYED, State.LOOKED):
        raise contender.error()
    return None if contender.event is None else Record.of(contender.event.record)


def granted(contender: ClaimContender) -> None:
    """Raises if the server has neither granted the claim nor replayed a result."""
    if contender.state not in (State.HELD, State.REPLAYED):
        raise contender.error()
