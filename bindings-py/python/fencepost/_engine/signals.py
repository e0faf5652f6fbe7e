"""Detects exceptions that the program causes during a call of a client library. Python runs a signal handler
on the main thread at any moment. Time limits throw an exception into a thread, or into a greenlet of gevent
or eventlet. If this happens inside a client library, the library may treat the exception as an error of its
connection.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from types import CodeType
from typing import Any

from .faults import EXHAUSTED

_LIBRARIES = sys.stdlib_module_names | {
    "eventlet",
    "fencepost",
    "gevent",
    "greenlet",
    "hiredis",
    "kazoo",
    "redis",
}
"""The packages whose code runs inside a call of a driver."""


def raised_by_program(error: BaseException) -> BaseException | None:
    """The exception of the program that is this error, or that a library has converted to it: a signal
    handler has raised it, the program has thrown it into this thread, or the program has no stack or memory
    left. None if there is no such exception.
    """
    codes: set[CodeType | None] = set()
    if threading.current_thread() is threading.main_thread():
        codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    return next((each for each in _chain(error) if _is_of_program(each, codes)), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and its causes."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__


def _is_of_program(error: BaseException, codes: set[CodeType | None]) -> bool:
    return isinstance(error, EXHAUSTED) or _is_of_handler(error, codes) or _is_thrown(error)


def _is_of_handler(error: BaseException, codes: set[CodeType | None]) -> bool:
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code in codes:
            return True
        entry = entry.tb_next
    return False


def _is_thrown(error: BaseException) -> bool:
    """Whether its class belongs to no library, but its traceback has only frames of libraries. If code of the
    program raised it, such as a credential provider that a library calls, the traceback has frames of that
    code.
    """
    if _package(type(error).__module__) in _LIBRARIES:
        return False
    entry = error.__traceback__
    while entry is not None:
        if _package(entry.tb_frame.f_globals.get("__name__")) not in _LIBRARIES:
            return False
        entry = entry.tb_next
    return True


def _package(module: object) -> str:
    return str(module).partition(".")[0]


def _code_of(handler: Any) -> CodeType | None:
    while isinstance(handler, partial):
        handler = handler.func
    if not callable(handler):
        return None
    # A bound method has its function's code. Any other object is called by its class's method.
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None
