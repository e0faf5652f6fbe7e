"""The last call of a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._fencepost import bound, ending


class Ending:
    """``__exit__``: calls ``leave``. If that raises, it calls ``forsake`` with the same arguments, and raises
    the exception again. No interrupt, such as Ctrl-C, can occur before ``leave`` or between the two.

    An interrupt can end a Python function before its first line. So ``__call__`` is a function of the
    extension, which Python calls directly.
    """

    __slots__ = ("__call__", "__wrapped__")

    __call__: Callable[..., Any]
    __get__ = bound

    def __init__(self, leave: Callable[..., None], forsake: Callable[..., None]) -> None:
        self.__call__ = ending(leave, forsake)
        self.__wrapped__ = leave
        """For ``inspect``."""
