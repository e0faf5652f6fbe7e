"""The HTTP format: keys, fingerprints and stored responses. ``docs/reference/http.md`` has every byte."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

Headers: TypeAlias = "list[tuple[bytes, bytes]]"
"""Names and values, as ASGI has them."""

TAG = "http-response:1"
"""The tag of a stored response."""
TOKEN_FIELD = "idempotency-token"
"""The hidden field of a form."""

STORED_HEADERS = frozenset(
    (
        *(b"cache-control", b"content-disposition", b"content-encoding", b"content-language"),
        *(b"content-location", b"content-type", b"etag", b"expires", b"last-modified", b"link"),
        *(b"location", b"vary"),
    )
)
"""The response headers that are stored."""
NEVER_STORED = frozenset(
    (
        *(b"connection", b"content-length", b"date", b"idempotency-stored", b"idempotent-replayed"),
        *(b"keep-alive", b"proxy-authenticate", b"proxy-authentication-info", b"proxy-connection"),
        *(b"server", b"set-cookie", b"set-cookie2", b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    )
)
"""The response headers that the program cannot choose to store."""
REPLAYED = (b"idempotent-replayed", b"true")
NOT_STORED = (b"idempotency-stored", b"false")

_QUOTED = re.compile(rb'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_BARE = re.compile(rb"[!#-+\--:<-\[\]-~]+")
_ESCAPED = re.compile(rb"\\(.)")
_TOKEN = re.compile(rb"[A-Za-z0-9_-]{1,255}")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS = re.compile(rb"([2-5][0-9][0-9])( status-only)?")
_LONGEST_KEY = 255
_BLANKS = b" \t"


def key_of(lines: Sequence[bytes]) -> str | None:
    """The key of the lines of a request's header. None: it is malformed."""
    value = b", ".join(lines).strip(_BLANKS)
    quoted = _QUOTED.fullmatch(value)
    if quoted:
        key = _ESCAPED.sub(rb"\1", quoted[1])
    elif _BARE.fullmatch(value):
        key = value
    else:
        return None
    return key.decode() if 1 <= len(key) <= _LONGEST_KEY else None


def token_of(line: bytes) -> str | None:
    """The form token of a header or field. None: it is malformed."""
    token = line.strip(_BLANKS)
    return token.decode() if _TOKEN.fullmatch(token) else None


def token_in(body: bytes) -> bytes | None:
    """The first form token among the fields of an urlencoded body."""
    for field in body.split(b"&"):
        name, _, value = field.partition(b"=")
        if unquote_to_bytes(name.replace(b"+", b" ")) == TOKEN_FIELD.encode():
            return unquote_to_bytes(value.replace(b"+", b" "))
    return None


def record_key(tenant: str, key: str) -> str:
    """The key of the record of a request's key. Operators need it to look at records."""
    return f"http:1:{binding_of(tenant).hex()}:{key}"


def token_key(token: str) -> str:
    """The key of the record of a form token."""
    return f"http-token:1:{token}"


def binding_of(tenant: str) -> bytes:
    """The binding of a form token: a digest of the tenant."""
    return hashlib.sha256(tenant.encode()).digest()


def route_of(target: bytes) -> bytes:
    """The route of a request's target, which may have percent-encoded bytes, a scheme and an authority."""
    path = target.partition(b"?")[0]
    if not path.startswith(b"/") and b"://" in path:
        _, slash, path = path.partition(b"://")[2].partition(b"/")
        path = slash + path
    return unquote_to_bytes(path) or b"/"


def fingerprint(secret: bytes, method: bytes, route: bytes, query: bytes, body: bytes) -> bytes:
    """The fingerprint of a request. ``route`` is decoded."""
    parts = [b"fencepost-http:1\n"]
    for name, value in ((b"method", method), (b"route", route), (b"query", query), (b"body", body)):
        parts.append(b"%s:%d:%s\n" % (name, len(value), value))
    return hmac.digest(secret, b"".join(parts), "sha256")


@dataclass(frozen=True)
class Stored:
    """A stored response. ``body`` is None if only the status is stored."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes | None = None

    @classmethod
    def of(
        cls, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes, names: frozenset[bytes]
    ) -> Stored:
        """The stored part of a response. ``names`` are the headers that are stored."""
        kept = ((name.lower(), value.strip(_BLANKS)) for name, value in headers)
        return cls(
            status,
            tuple(
                (name, value)
                for name, value in kept
                if name in names and not any(byte in value for byte in (b"\n", b"\r", b"\0"))
            ),
            body,
        )

    def encode(self) -> bytes:
        """The result of the record."""
        if self.body is None:
            return b"%d status-only\n\n" % self.status
        lines = (b"%s: %s\n" % header for header in self.headers)
        return b"".join((b"%d\n" % self.status, *lines, b"\n", self.body))

    @classmethod
    def decode(cls, result: bytes) -> Stored:
        """Decodes a result. Raises ValueError if :meth:`encode` cannot have made it."""
        line, _, rest = result.partition(b"\n")
        status = _STATUS.fullmatch(line)
        if status is None:
            raise ValueError(f"the first line is not a status: {line[:40]!r}")
        headers: Headers = []
        while True:
            line, end, rest = rest.partition(b"\n")
            if not end:
                raise ValueError("the headers do not end")
            if not line:
                break
            headers.append(_header(line))
        if status[2] is None:
            return cls(int(status[1]), tuple(headers), rest)
        if headers or rest:
            raise ValueError("headers or a body follow a status-only line")
        return cls(int(status[1]))

    def replay(self, method: bytes) -> Headers:
        """The headers of the replay to a request with this method."""
        headers = [*self.headers, REPLAYED]
        if self.body is None:
            headers.append(NOT_STORED)
        # The length of a response to HEAD would be that of the response to GET, which is not stored.
        if has_length(self.status) and (self.body or method != b"HEAD"):
            headers.append((b"content-length", b"%d" % len(self.body or b"")))
        return headers


def has_length(status: int) -> bool:
    """Whether responses with this status have a body, and announce its length."""
    return status not in (204, 304)


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b": ")
    sound = colon and is_name(name) and name == name.lower() and value == value.strip(_BLANKS)
    if not sound or b"\r" in value or b"\0" in value:
        raise ValueError(f"no header of a stored response: {line[:40]!r}")
    return name, value


def is_name(name: bytes) -> bool:
    """Whether this may be the name of a header."""
    return _NAME.fullmatch(name) is not None
