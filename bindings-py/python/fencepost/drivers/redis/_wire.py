"""The bytes of a command, in Redis's protocol."""

from __future__ import annotations

from collections.abc import Iterable


def pack(arguments: Iterable[bytes]) -> bytes:
    """The bytes of a command."""
    parts = [b"$%d\r\n%b\r\n" % (len(argument), argument) for argument in arguments]
    return b"*%d\r\n%b" % (len(parts), b"".join(parts))
