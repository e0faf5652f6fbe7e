"""The few packets that locks need, in the bytes of ZooKeeper's protocol, so that no request costs more than
its own bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

CREATE, DELETE, EXISTS, GET_DATA, SYNC, GET_CHILDREN2, CREATE_CONTAINER = 1, 2, 3, 4, 9, 12, 19
EPHEMERAL_SEQUENTIAL, CONTAINER = 3, 4

_int = struct.Struct("!i").pack
_read_int = struct.Struct("!i").unpack_from
_read_header = struct.Struct("!iqi").unpack_from  # xid, zxid, error
_read_stat = struct.Struct(
    "!qqqqiiiqiiq"
).unpack_from  # czxid, mzxid, times, version, …, ephemeral owner at 7, …

NO_WATCH, WITH_WATCH = b"\0", b"\1"
ANY_VERSION = _int(-1)


def text(value: str) -> bytes:
    """A text with its length."""
    return blob(value.encode())


def blob(value: bytes) -> bytes:
    """Bytes with their length."""
    return _int(len(value)) + value


def acl(entries: Iterable[Any]) -> bytes:
    """A list of kazoo's ACLs."""
    packed = [_int(entry.perms) + text(entry.id.scheme) + text(entry.id.id) for entry in entries]
    return _int(len(packed)) + b"".join(packed)


def flags(value: int) -> bytes:
    """What kind of node to create."""
    return _int(value)


def zxid(packet: bytes) -> int:
    """The transaction that a reply is of; for a create, the node's czxid."""
    return int(_read_header(packet, 0)[1])


def read_blob(packet: bytes, offset: int) -> tuple[bytes, int]:
    """Bytes with their length, and where they end. A missing value counts as an empty one."""
    (length,) = _read_int(packet, offset)
    offset += 4
    if length < 0:
        return b"", offset
    return bytes(packet[offset : offset + length]), offset + length


def read_names(packet: bytes, offset: int) -> list[str]:
    """The names of children. A name that is no UTF-8 is nobody's contender: it only has to stay one name."""
    (count,) = _read_int(packet, offset)
    offset += 4
    names = []
    for _ in range(count):
        name, offset = read_blob(packet, offset)
        names.append(name.decode(errors="replace"))
    return names


def read_node(packet: bytes, offset: int) -> tuple[bytes, int, int, int]:
    """A node's data, czxid, ephemeral owner and version."""
    data, offset = read_blob(packet, offset)
    stat = _read_stat(packet, offset)
    return data, stat[0], stat[7], stat[4]
