"""Programming errors in a driver or in a client library. The network is not their cause, so the client does
not retry after one.
"""

from __future__ import annotations

import re
import sys

from ..errors import DriverError, FencepostError
from .contender import Contender, State
from .wording import shown

_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    ImportError,
    LookupError,
    NameError,
    ReferenceError,
    RuntimeError,
    StopAsyncIteration,
    StopIteration,
    SyntaxError,
    SystemError,
    TypeError,
    ValueError,
)
"""The exceptions that wrong code raises. Exceptions that a library or the program defines itself, such as
those of a credential provider, may be temporary failures.
"""
EXHAUSTED = (RecursionError, MemoryError)
"""The program has used up its stack or its memory. Any call may raise these, so no code is wrong."""
_PASSING = re.compile("clos(ed|ing)|negative integer|shut ?down|start new thread|xids do not match")
"""The texts of a RuntimeError or ValueError that is no programming error: a socket, a loop or the interpreter
is closed or shutting down, or kazoo has received a reply out of order, after which it connects again.
"""


def is_fault(error: BaseException | None) -> bool:
    """Whether an exception is a programming error, which would occur again."""
    if not isinstance(error, _FAULTS) or type(error).__module__ != "builtins":
        return False
    if isinstance(error, (UnicodeError, *EXHAUSTED)):  # UnicodeError: the name of a host is not valid.
        return False
    if sys.is_finalizing():  # Python has removed modules, so an import fails.
        return False
    passes = isinstance(error, (RuntimeError, ValueError)) and not isinstance(error, NotImplementedError)
    return not (passes and _PASSING.search(str(error)))


def driver_error(what: str, fault: BaseException) -> DriverError:
    """The error for a call that a driver cannot carry out."""
    error = DriverError(
        f"{what}: {type(fault).__name__} in the client library's driver: {fault}. This client cannot be used"
        " any more. Check that fencepost supports your version of the library, and make a new client"
    )
    error.__cause__ = fault
    return error


def end_by_fault(contender: Contender, fault: BaseException) -> None:
    """Ends a contender whose driver has failed."""
    held = contender.state is State.HELD
    contender.state = State.LOST if held else State.REFUSED
    error: FencepostError = driver_error(shown(contender.name), fault)
    if held:
        error = contender.lost(str(error), 406, "lost-connection-closed")
        error.__cause__ = fault
    contender.error_of_client = error
