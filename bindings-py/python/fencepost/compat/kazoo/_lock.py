"""Kazoo's locks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from kazoo.exceptions import NoNodeError

from ._recipe import Recipe, identifiers

_SEEN_ANYWAY = ("__lock__", "__rlock__", "__READ__", "__WRIT__", "-latch-", "lock-")
"""The endings of the names of contenders that every lock of fencepost recognises."""


class Lock(Recipe):
    """Kazoo's exclusive lock, on the same nodes.

    It is not re-entrant: threads that share the object hold it one after the other. The lock always
    recognises contenders of Curator's, Go's and kazoo's layouts. For any other pattern in
    ``extra_lock_patterns`` it raises NotImplementedError.
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
                    f"extra_lock_patterns has {pattern!r}, which fencepost does not support: it recognises "
                    f"only names that end with one of {', '.join(_SEEN_ANYWAY)}"
                )
        super().__init__(client, path, identifier)
        self._expected = extra
        names = "|".join(map(re.escape, {*self._EXCLUDE_NAMES, self._NODE_NAME, *extra}))
        self._contenders_re = re.compile(rf"(?:{names})(-?\d{{9,10}})$")

    def acquire(self, blocking: bool = True, timeout: float | None = None, ephemeral: bool = True) -> bool:
        """Waits until this object holds the lock, and returns True. ``timeout`` limits the whole wait, in
        seconds; connecting is included.

        Returns False if ``blocking`` is False and another contender holds the lock. Also returns False if
        this object holds the lock and no thread releases it in time. Raises LockTimeout, CancelledError, and
        kazoo's errors. Raises NotImplementedError for ``ephemeral=False``, a node that outlives its session.
        """
        if not ephemeral:
            raise NotImplementedError(
                "ephemeral is False, which fencepost does not support: leave the argument out. The lock ends "
                "with its session"
            )
        return self._acquire(bool(blocking), timeout)

    def contenders(self) -> list[str]:
        """The identifiers of the contenders, in the order of the queue."""
        try:
            children = self.client.get_children(self.path)
        except NoNodeError:
            return []
        found = [
            (int(match[1]), match.string) for match in map(self._contenders_re.search, children) if match
        ]
        return identifiers(self.client, self.path, [name for _, name in sorted(found)])

    def _expects(self, foreign: str) -> bool:
        return any(pattern in foreign for pattern in self._expected)


class WriteLock(Lock):
    """The writer of kazoo's read/write lock, on the same nodes."""

    _KIND = "writer"
    _EXCLUDE_NAMES: ClassVar[list[str]] = ["__lock__", "__rlock__"]


class ReadLock(Lock):
    """The reader of kazoo's read/write lock, on the same nodes."""

    _KIND = "reader"
    _NODE_NAME = "__rlock__"
