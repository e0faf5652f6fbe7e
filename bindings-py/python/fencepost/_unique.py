"""What there is once: a copy would be released, or closed, like the original."""

from __future__ import annotations

from typing import NoReturn


class Unique:
    """Refuses ``copy``, ``deepcopy`` and ``pickle``."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be copied or pickled: threads and tasks share it, and each process makes a "
            "client of its own with connect()"
        )
