"""Errors. Each has a number and a kebab-case name, the same in every language."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._engine.record import Record


class FencepostError(Exception):
    """The base of all errors of this package."""

    code: int
    """The number: 1xx settings, 2xx calls, 3xx refusals, 4xx losses, 5xx the client's own."""
    name: str
    """The name, such as ``not-held``."""

    def __init__(self, text: str, code: int, name: str) -> None:
        # Some programs, such as Celery, create the exception again from its `args`.
        super().__init__(text, code, name)
        self.code = code
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # `__dict__` has the other attributes and the notes.
        return (type(self), (str(self), self.code, self.name), self.__dict__)


def without_frames(error: BaseException) -> None:
    """Removes the frames from an exception that the client keeps, and from its causes. Otherwise it would
    keep all local variables of these frames and of their callers alive. The exceptions of the program that
    were being handled when it was raised stay as they are.
    """
    each: BaseException | None = error
    while each is not None and (each.__traceback__ or each.__context__):
        each.__traceback__ = None
        each.__context__ = None
        each = each.__cause__


def again(error: FencepostError) -> FencepostError:
    """Returns a copy of an error, for the caller to raise. A raised exception keeps frames alive, and the
    error that the client keeps must not.
    """
    made = copy(error)
    made.__cause__ = error.__cause__
    return made


class ConfigError(FencepostError, ValueError):
    """A setting or argument that is not valid. It is raised before the client sends anything."""


class MisuseError(FencepostError, RuntimeError):
    """A call that the present state does not allow, such as a second release, or any call of a closed client.
    The call has changed nothing.
    """


class Refused(FencepostError):
    """An acquire or a claim has failed, or the server has refused a release, a downgrade or a result.

    If an exception of the client library was the cause, it is the ``__cause__``.
    """

    retry_after: float | None
    """The number of seconds until the lease of the present holder ends. None if the server has not reported
    it.
    """

    def __init__(self, text: str, code: int, name: str, *, retry_after: float | None = None) -> None:
        super().__init__(text, code, name)
        self.retry_after = retry_after


class NotAcquired(Refused):
    """Another contender held the lock until the timeout, or at the moment of the try."""


class InProgress(NotAcquired):
    """Another attempt runs this operation. Try again later, or wait longer: see :attr:`retry_after`."""


class Mismatch(Refused):
    """The key belongs to another operation, or to the same one with another fingerprint or binding."""


class Indeterminate(Refused):
    """The lease of an earlier attempt has ended without a result, and the policy forbids running the
    operation again. It may have taken effect: find out, and then settle or forget its record.
    """


class Conflict(Refused):
    """The value has another version than an update expects."""

    record: Record | None
    """The present value; None if there is none."""

    def __init__(
        self,
        text: str,
        code: int,
        name: str,
        *,
        retry_after: float | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__(text, code, name, retry_after=retry_after)
        self.record = record


class LockLost(FencepostError):
    """A grant has ended without a release. Another contender may hold the lock by now.

    If an exception of the client library was the cause, it is the ``__cause__``.
    """


class ClaimLost(LockLost):
    """A claim was lost before the program completed, left or released it. Another attempt may run the
    operation by now.

    The program may still complete, leave or release the claim: the server decides whether that has an effect.
    """


class StoredError(FencepostError):
    """An earlier attempt has failed, and its error is the stored result. The text is that error's text."""

    def __init__(self, text: str, code: int = 507, name: str = "stored-error") -> None:
        super().__init__(text, code, name)


class MixedLayoutsWarning(UserWarning):
    """A contender of another layout is in the lock's directory. It does not see this client's contender, so
    it may get the lock as well. Give all processes the same layout.
    """


class ReleaseUnconfirmed(FencepostError):
    """The server has not confirmed a release within 5 seconds. The client continues the release in the
    background.
    """

    def __init__(self, text: str, code: int = 501, name: str = "release-unconfirmed") -> None:
        super().__init__(text, code, name)


class WrongProcess(FencepostError):
    """A client or a grant was used in a process that did not make it, after a fork."""

    def __init__(self, text: str, code: int = 502, name: str = "wrong-process") -> None:
        super().__init__(text, code, name)


class DriverError(FencepostError):
    """A programming error in a driver or in the client library. The cause is a bug in fencepost, or a version
    of the library that it does not support. The client does not retry, and the program cannot use it any
    more.

    The programming error is the ``__cause__``.
    """

    def __init__(self, text: str, code: int = 506, name: str = "driver-failed") -> None:
        super().__init__(text, code, name)


class DriverMissing(FencepostError, ImportError):  # type: ignore[misc]  # the latter's name may be None
    """The client library for this server is not installed (526, ``driver-missing``), or fencepost does not
    work with its version (509, ``driver-unsupported``). The text has the command that installs it.

    If an import has failed, that error is the ``__cause__``.
    """

    def __init__(self, text: str, code: int = 526, name: str = "driver-missing") -> None:
        super().__init__(text, code, name)


class CleanupIncomplete(FencepostError):
    """A client was closed. The server may still have its nodes or keys, until the lease or session ends."""

    count: int
    """The number of contenders whose release or deletion the server has not confirmed, or has refused."""

    def __init__(
        self, text: str, code: int = 503, name: str = "cleanup-incomplete", *, count: int = 0
    ) -> None:
        super().__init__(text, code, name)
        self.count = count
