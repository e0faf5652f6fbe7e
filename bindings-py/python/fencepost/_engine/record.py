"""The record that the server stores for an operation or a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal

from .. import _fencepost

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST = datetime.max.replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Record:
    """The record of an operation, or a value with a version, as the server has stored it."""

    state: Literal["issued", "running", "done", "value"]
    """The state of the operation; ``value`` if it is a value."""
    attempt: str
    """The attempt that wrote the record."""
    fence: int
    """The fence of the last claim; 0 before the first one."""
    takeovers: int
    """How many times a claim has taken the operation over."""
    policy: Literal["retake", "block", "indeterminate"]
    """The policy for a claim when the lease of another attempt has ended."""
    lease_end: datetime | None
    """When the lease ends, by the server's clock. None: there is no lease, or it has ended on ZooKeeper. On
    ZooKeeper a lease lasts as long as the session, so until then this is the largest datetime.
    """
    kept_until: datetime | None
    """Until when the server keeps the record, by its clock. None: it has no end, or the server has not
    reported it.
    """
    version: int
    """The version of a value, or the version that an update made; otherwise 0."""
    tag: str
    """The tag of the codec that encoded the result."""
    result: bytes
    """The result, or the value."""
    guard: int
    """The number that settle and forget compare, so that they change only the state that the operator has
    seen.
    """

    @classmethod
    def of(cls, record: _fencepost.Record | None) -> Record | None:
        """A record of the hub."""
        return record and cls(
            record.state,
            record.attempt,
            record.fence,
            record.takeovers,
            record.policy,
            _time(record.lease_end),
            _time(record.kept_until),
            record.version,
            record.tag,
            record.result,
            record.guard,
        )


def _time(milliseconds: int) -> datetime | None:
    if milliseconds == 0:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return _LAST
