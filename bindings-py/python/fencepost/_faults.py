"""Programming errors in a driver or in a client library: they are no answer of the network, so nothing that
ends in one is tried again.
"""

from __future__ import annotations

from ._contender import Contender, State
from .errors import DriverError, FencepostError, LockLost

_FAULTS = (
    AssertionError,
    AttributeError,
    ImportError,
    NameError,
    NotImplementedError,
    OverflowError,
    TypeError,
)


def is_fault(error: BaseException | None) -> bool:
    """Whether an exception comes of the code, and would come again."""
    return isinstance(error, _FAULTS)


def driver_error(what: str, fault: BaseException) -> DriverError:
    """The error for a call that a driver cannot carry out."""
    error = DriverError(
        f"{what}: {type(fault).__name__} in the client library's driver: {fault}. This client is of no use"
        " any more: see which versions of the library fencepost supports"
    )
    error.__cause__ = fault
    return error


def end(contender: Contender, fault: BaseException) -> None:
    """Ends a contender whose driver has failed."""
    held = contender.state is State.HELD
    contender.state = State.LOST if held else State.REFUSED
    told: FencepostError = driver_error(contender.name, fault)
    if held:
        told = LockLost(str(told), 406, "lost-connection-closed")
        told.__cause__ = fault
    contender.error_of_client = told
