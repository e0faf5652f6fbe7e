"""Exceptions of the program's signal handlers. Python runs a handler on the main thread at any moment, also
inside a client library, which may take the handler's exception for an error of its connection.
"""

from __future__ import annotations

import signal
import threading
from functools import partial
from types import CodeType
from typing import Any


def raised_by_handler(error: BaseException) -> BaseException | None:
    """The exception of a signal handler that is this error, or that a library has turned into it. None if no
    handler has raised it.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    seen: set[int] = set()
    each: BaseException | None = error
    while codes and each is not None and id(each) not in seen:
        seen.add(id(each))
        entry = each.__traceback__
        while entry is not None:
            if entry.tb_frame.f_code in codes:
                return each
            entry = entry.tb_next
        each = each.__cause__ or each.__context__
    return None


def _code_of(handler: Any) -> CodeType | None:
    while isinstance(handler, partial):
        handler = handler.func
    if not callable(handler):
        return None
    # A bound method has its function's code. Any other object is called by its class's method.
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None
