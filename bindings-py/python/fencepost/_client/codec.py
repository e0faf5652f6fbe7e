"""Codecs, which convert results to bytes and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._engine.record import Record
from .._engine.wording import described, shown, unreadable
from ..errors import ConfigError, Refused, StoredError

ERROR = "error"
"""The tag of a stored error. Its result is the error's text."""
LONGEST_RESULT = 1_000_000
"""The largest number of bytes of a result. The core has the same limit."""


@dataclass(frozen=True)
class Codec:
    """Converts results to bytes and back, for example ``Codec("pickle", pickle.dumps, pickle.loads)``.

    The server stores ``tag`` with each result. A codec decodes only results with its own tag.
    """

    tag: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]

    def to_bytes(self, name: str, value: object) -> bytes:
        """The bytes of a result. Raises ConfigError."""
        try:
            result = self.encode(value)
        except Exception as error:
            raise unreadable(
                f"{shown(name)}: the result is {described(value)}, which the codec {self.tag!r} cannot "
                f"store: {error}"
            ) from error
        if not isinstance(result, bytes):
            raise unreadable(f"{shown(name)}: the codec {self.tag!r} returned {described(result)}, not bytes")
        if len(result) > LONGEST_RESULT:
            # The core's error would not name the operation.
            raise ConfigError(
                f"{shown(name)}: the result has {len(result)} bytes, and a record has at most "
                f"{LONGEST_RESULT}: store it elsewhere, and its address here",
                110,
                "invalid-option",
            )
        return result

    def value_of(self, name: str, record: Record) -> Any:
        """The result of a record. Raises StoredError if it is an error, and Refused (``corrupt-record``) if
        this codec cannot decode it.
        """
        if record.tag == ERROR and self.tag != ERROR:
            raise StoredError(record.result.decode(errors="replace"))
        why = f"its tag is {record.tag!r}, and the codec has {self.tag!r}"
        cause: Exception | None = None
        if record.tag == self.tag:
            try:
                return self.decode(record.result)
            except Exception as error:
                why, cause = f"the codec {self.tag!r} cannot decode it: {error}", error
        raise Refused(
            f"{shown(name)}: the stored result cannot be read: {why}", 321, "corrupt-record"
        ) from cause


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _bytes(value: object) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError("give bytes")


JSON = Codec("json", _json, json.loads)
"""The codec for results as JSON, which all languages can read."""
BYTES = Codec("bytes", _bytes, bytes)
"""The codec for results that are bytes."""
