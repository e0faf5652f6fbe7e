"""The middleware's own responses, and how each status of the handler ends the claim."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._form import Headers

End: TypeAlias = Literal["complete", "release", "leave"]
"""How a claim ends."""
ENDS: tuple[End, ...] = ("complete", "release", "leave")

_RELEASING = frozenset((307, 308, 401, 403, 409, 425, 429))
_REQUEST_TIMEOUT = 408
_UNKNOWN_WAIT = 30
"""The Retry-After of a running operation whose lease is not known, in seconds."""


def end_of(status: int, ends: Mapping[int, End]) -> End:
    """How a response with this status ends the claim. ``ends`` has the program's own rules."""
    given = ends.get(status)
    if given is not None:
        return given
    # The middleware reads the whole request before the handler runs. So status 408 means that a timeout has
    # ended the handler half-way.
    if not 200 <= status < 500 or status == _REQUEST_TIMEOUT:
        return "leave"
    return "release" if status in _RELEASING else "complete"


def retry_after(seconds: float | None) -> int:
    """The Retry-After of a running operation."""
    return _UNKNOWN_WAIT if seconds is None else max(1, math.ceil(seconds))


@dataclass(frozen=True)
class Problem:
    """A problem document (RFC 9457)."""

    name: str
    status: int
    title: str
    detail: str

    @property
    def body(self) -> bytes:
        """The document."""
        document = {
            "type": f"urn:fencepost:http:{self.name}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        return json.dumps(document, separators=(",", ":")).encode()

    def headers(self, wait: int | None = None) -> Headers:
        """Its headers. ``wait`` is the Retry-After."""
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"cache-control", b"no-store"),
            (b"content-length", b"%d" % len(self.body)),
        ]
        if wait is not None:
            headers.append((b"retry-after", b"%d" % wait))
        return headers


KEY_MISSING = Problem(
    "key-missing",
    400,
    "Idempotency-Key is missing",
    "Send the header Idempotency-Key: a new key for each operation, and the same key for each retry.",
)
KEY_MALFORMED = Problem(
    "key-malformed",
    400,
    "Idempotency-Key is malformed",
    "Send one key of 1 to 255 ASCII characters: a quoted string, or a bare one without spaces, "
    "quotation marks, backslashes, commas and semicolons.",
)
IN_PROGRESS = Problem(
    "in-progress",
    409,
    "The operation is in progress",
    "Another request with this key is being processed. Retry with the same key later.",
)
INDETERMINATE = Problem(
    "indeterminate",
    409,
    "The outcome is unknown",
    "An earlier request with this key ended without a result. It may have taken effect, so it is not "
    "processed again. Find out what happened.",
)
BODY_TOO_LARGE = Problem(
    "body-too-large",
    413,
    "The request body is too large",
    "The server does not accept a body of this size with a key. The request was not processed.",
)
MISMATCH = Problem(
    "mismatch",
    422,
    "The key belongs to another request",
    "A request with this key had another method, path, query, body or session. Use a new key for "
    "each operation.",
)
UNKNOWN_TOKEN = Problem(
    "unknown-token",
    422,
    "The form has expired",
    "The token was never issued, or it has expired. Load the form again.",
)
CORRUPT_RECORD = Problem(
    "corrupt-record",
    500,
    "The record cannot be read",
    "The stored record of this key cannot be read. The request was not processed.",
)
STORE_UNAVAILABLE = Problem(
    "store-unavailable",
    503,
    "The store is unavailable",
    "The keys cannot be checked now. The request was not processed. Retry with the same key.",
)
PROBLEMS = (
    *(KEY_MISSING, KEY_MALFORMED, IN_PROGRESS, INDETERMINATE, BODY_TOO_LARGE, MISMATCH, UNKNOWN_TOKEN),
    *(CORRUPT_RECORD, STORE_UNAVAILABLE),
)
"""All problems."""
