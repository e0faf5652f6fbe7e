"""Objects that cannot be copied: releasing or closing a copy would release or close the original."""

from __future__ import annotations

from typing import NoReturn


class Noncopyable:
    """Refuses ``copy``, ``deepcopy`` and ``pickle``."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be copied or pickled: share it between threads and tasks. Another process has "
            "to make its own client with connect()"
        )
