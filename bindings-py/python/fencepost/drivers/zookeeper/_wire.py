"""The packets of ZooKeeper's protocol that locks need. Encoding them here is faster than kazoo's classes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

CREATE, DELETE, EXISTS, GET_DATA, SET_DATA, SYNC = 1, 2, 3, 4, 5, 9
GET_CHILDREN2, CHECK, MULTI, CREATE2, CREATE_CONTAINER = 12, 13, 14, 15, 19
EPHEMERAL, EPHEMERAL_SEQUENTIAL, CONTAINER = 1, 3, 4

_int = struct.Struct("!i").pack
_read_int = struct.Struct("!i").unpack_from
_read_header = struct.Struct("!iqi").unpack_from  # xid, zxid, error
_stat = struct.Struct("!qqqqiiiqiiq")  # czxid, mzxid, ctime, mtime, version, …, ephemeral owner at 7, …
_multi_header = struct.Struct("!i?i")  # type, whether it is the last, error
_ERROR = -1
_NOT_TO_BLAME = (0, -2)
"""The error codes in the reply to a multi for the writes that did not cause the failure."""

NO_WATCH, WITH_WATCH = b"\0", b"\1"
ANY_VERSION = -1


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
    """The kind of node to create."""
    return _int(value)


def version(value: int) -> bytes:
    """The version that the node must have, or ANY_VERSION."""
    return _int(value)


def zxid(packet: bytes) -> int:
    """The number of the transaction, from the header of a reply. For a create, that is the node's czxid."""
    return int(_read_header(packet, 0)[1])


def read_blob(packet: bytes, offset: int) -> tuple[bytes, int]:
    """Reads bytes with their length. Returns them and the offset after them. A missing value is empty."""
    (length,) = _read_int(packet, offset)
    offset += 4
    if length < 0:
        return b"", offset
    return bytes(packet[offset : offset + length]), offset + length


def read_names(packet: bytes, offset: int) -> list[str]:
    """Reads the names of children. A name that is not UTF-8 is no contender, so its exact value is not
    needed.
    """
    (count,) = _read_int(packet, offset)
    offset += 4
    names = []
    for _ in range(count):
        name, offset = read_blob(packet, offset)
        names.append(name.decode(errors="replace"))
    return names


def read_node(packet: bytes, offset: int) -> tuple[bytes, int, int, int, int, int, int]:
    """Reads a node's data, czxid, mzxid, ephemeral owner, version, ctime and mtime."""
    data, offset = read_blob(packet, offset)
    stat = _stat.unpack_from(packet, offset)
    return data, stat[0], stat[1], stat[7], stat[4], stat[2], stat[3]


def multi(parts: Iterable[tuple[int, bytes]]) -> bytes:
    """The bytes of a multi, from the opcodes and bodies of its writes."""
    packed = [_multi_header.pack(opcode, False, -1) + body for opcode, body in parts]
    return b"".join(packed) + _multi_header.pack(-1, True, -1)


def read_multi(packet: bytes, offset: int) -> list[str] | int:
    """Reads the paths of the nodes created, in order; or the error code of the write that has failed."""
    paths: list[str] = []
    errors: list[int] = []
    while True:
        opcode, last, _ = _multi_header.unpack_from(packet, offset)
        offset += _multi_header.size
        if last:
            break
        if opcode == _ERROR:
            errors.append(_read_int(packet, offset)[0])
            offset += 4
        elif opcode == SET_DATA:
            offset += _stat.size
        elif opcode not in (DELETE, CHECK):
            path, offset = read_blob(packet, offset)
            paths.append(path.decode())
            if opcode != CREATE:
                offset += _stat.size
    if not errors:
        return paths
    return next((code for code in errors if code not in _NOT_TO_BLAME), errors[0])
