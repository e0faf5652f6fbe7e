"""The exceptions for refusals."""

from __future__ import annotations

from .._fencepost import Event
from ..errors import Conflict, Indeterminate, InProgress, Mismatch, NotAcquired, Refused
from .record import Record

_KINDS: dict[int, type[Refused]] = {
    301: NotAcquired,
    302: NotAcquired,
    317: InProgress,
    318: Mismatch,
    319: Indeterminate,
}


def refusal(event: Event, text: str) -> Refused:
    """The exception for an event that refuses something."""
    code, name = event.code or 0, event.reason or ""
    if name == "conflict":
        return Conflict(text, code, name, record=Record.of(event.record))
    retry_after = None if event.retry_after is None else event.retry_after / 1e6
    return _KINDS.get(code, Refused)(text, code, name, retry_after=retry_after)
