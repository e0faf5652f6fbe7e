"""Kazoo's locks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from kazoo.exceptions import NoNodeError

from ._contest import Contest, identifiers

_SEEN_ANYWAY = ("__lock__", "__rlock__", "__READ__", "__WRIT__", "-latch-", "lock-")
"""What ends the names of contenders that every lock of ours recognises."""


class Lock(Contest):
    """An exclusive lock: kazoo's, on the same nodes.

    Not re-entrant: threads that share the object take turns. ``extra_lock_patterns``: contenders of
    Curator's, Go's and kazoo's layouts are recognised anyway; others are refused with NotImplementedError.
    """

    _NODE_NAME = "__lock__"
    _EXCLUDE_NAMES: ClassVar[list[str]] = ["__lock__"]

    def __init__(
        self, client: Any, path: str, identifier: object = None, extra_lock_patterns: Iterable[str] = ()
    ) -> None:
        extra = list(extra_lock_patterns)
        for pattern in extra:
            if not pattern.endswith(_SEEN_ANYWAY):
                raise NotImplementedError(
                    f"fencepost does not look for contenders called {pattern!r}: it knows {_SEEN_ANYWAY}"
                )
        super().__init__(client, path, identifier)
        self._expected = extra
        names = "|".join(map(re.escape, {*self._EXCLUDE_NAMES, self._NODE_NAME, *extra}))
        self._contenders_re = re.compile(rf"(?:{names})(-?\d{{9,10}})$")

    def acquire(self, blocking: bool = True, timeout: float | None = None, ephemeral: bool = True) -> bool:
        """Waits until the lock is held (True), for at most ``timeout`` seconds, connecting and all included.

        False: somebody else holds it, and ``blocking`` is False; or this object holds it, and was not
        released in time. Raises LockTimeout, CancelledError, and kazoo's errors; NotImplementedError for a
        node that is to outlive its session (``ephemeral=False``).
        """
        if not ephemeral:
            raise NotImplementedError(
                "fencepost's locks go with their session: ephemeral=False is not supported"
            )
        return self._acquire(bool(blocking), timeout)

    def contenders(self) -> list[str]:
        """What the contenders say of themselves (their identifiers), in the order of the line."""
        try:
            children = self.client.get_children(self.path)
        except NoNodeError:
            return []
        found = [
            (int(match[1]), match.string) for match in map(self._contenders_re.search, children) if match
        ]
        return identifiers(self.client, self.path, [name for _, name in sorted(found)])

    def _expects(self, stranger: str) -> bool:
        return any(pattern in stranger for pattern in self._expected)


class WriteLock(Lock):
    """The exclusive side of a read/write lock: kazoo's, on the same nodes."""

    _KIND = "writer"
    _EXCLUDE_NAMES: ClassVar[list[str]] = ["__lock__", "__rlock__"]


class ReadLock(Lock):
    """The shared side of a read/write lock: kazoo's, on the same nodes."""

    _KIND = "reader"
    _NODE_NAME = "__rlock__"
