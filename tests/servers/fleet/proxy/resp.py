"""Cuts a stream of RESP (Redis's protocol, versions 2 and 3) into its top-level values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LINES = b"+-:_,#("
BULKS = b"$!="
AGGREGATES = {ord("*"): 1, ord("~"): 1, ord(">"): 1, ord("%"): 2, ord("|"): 2}
ATTRIBUTE = ord("|")
INLINE = "inline"


@dataclass(frozen=True)
class Value:
    """A top-level value: its bytes, its type (the first byte, or `inline`), and its first scalars."""

    raw: bytes
    type: str
    scalars: list[bytes]


class Reader:
    """Collects bytes, and returns complete values. Reads each byte only once."""

    def __init__(self, keep: int) -> None:
        """`keep`: how many scalars of each value to return."""
        self._keep = keep
        self._buffer = bytearray()
        self._begin()

    def _begin(self) -> None:
        self._position = 0
        self._searched = 0
        self._bulk: int | None = None
        self._missing = 1
        self._scalars: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[Value]:
        """The values that are complete with these bytes."""
        self._buffer += data
        while self._step():
            if self._missing == 0:
                raw = bytes(self._buffer[: self._position])
                first = chr(raw[0])
                value = Value(raw, first if is_typed(raw[0]) else INLINE, self._scalars)
                del self._buffer[: self._position]
                self._begin()
                yield value

    def _step(self) -> bool:
        """Reads one line or one bulk; False if it is not complete yet."""
        if self._bulk is not None:
            return self._read_bulk(self._bulk)
        end = self._buffer.find(b"\n", max(self._position, self._searched))
        if end < 0:
            self._searched = len(self._buffer)
            return False
        line = bytes(self._buffer[self._position : end]).rstrip(b"\r")
        self._position = end + 1
        self._read_line(line)
        return True

    def _read_bulk(self, length: int) -> bool:
        end = self._position + length
        if len(self._buffer) < end + 2:
            return False
        self._scalar(bytes(self._buffer[self._position : end]))
        self._position = end + 2
        self._bulk = None
        self._missing -= 1
        return True

    def _read_line(self, line: bytes) -> None:
        kind = line[0] if line else 0
        if kind in BULKS and size(line) >= 0:
            self._bulk = size(line)
        elif kind in AGGREGATES:
            # An attribute comes before a value, and is no value itself.
            self._missing += max(size(line), 0) * AGGREGATES[kind] - (kind != ATTRIBUTE)
        else:
            # A scalar in one line, a null, or an inline command.
            if is_typed(kind):
                self._scalar(line[1:])
            else:
                self._scalars.extend(line.split()[: self._keep])
            self._missing -= 1

    def _scalar(self, text: bytes) -> None:
        if len(self._scalars) < self._keep:
            self._scalars.append(text)


def is_typed(byte: int) -> bool:
    """Whether a value can begin with this byte."""
    return byte in LINES or byte in BULKS or byte in AGGREGATES


def size(line: bytes) -> int:
    """The length in the line that begins a bulk or an aggregate; -1 for a null."""
    try:
        return int(line[1:])
    except ValueError:
        return -1
