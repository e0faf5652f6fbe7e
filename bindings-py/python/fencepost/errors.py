"""Errors, typed by who is to blame. Each has a number and a kebab-case name, the same in every language."""

from __future__ import annotations

from typing import Any


class FencepostError(Exception):
    """The base of all errors of this package."""

    code: int
    """The number: 1xx settings, 2xx calls, 3xx refusals, 4xx losses, 5xx the client's own."""
    name: str
    """The name, such as ``not-held``."""

    def __init__(self, text: str, code: int, name: str) -> None:
        super().__init__(text)
        self.code = code
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.code, self.name))


def without_frames(error: BaseException) -> None:
    """Takes from an exception that is kept what it keeps itself: the frames that it came through, and by them
    all of their callers. What was being handled when it was raised is the program's own, and stays as it is.
    """
    each: BaseException | None = error
    while each is not None and (each.__traceback__ or each.__context__):
        each.__traceback__ = None
        each.__context__ = None
        each = each.__cause__


def again(error: FencepostError) -> FencepostError:
    """The same error, to be raised: what is raised keeps its callers' frames, and what is kept must not."""
    kind, arguments = error.__reduce__()
    made: FencepostError = kind(*arguments)
    made.__cause__ = error.__cause__
    return made


class ConfigError(FencepostError, ValueError):
    """A setting or argument that makes no sense. Raised before anything is sent."""


class MisuseError(FencepostError, RuntimeError):
    """A call that makes no sense now: released twice, client closed. It has changed nothing."""


class Refused(FencepostError):
    """An acquire has come to nothing, or the server has refused a release.

    The client library's own exception, if one was the cause, is the ``__cause__``.
    """


class NotAcquired(Refused):
    """Somebody else held the lock until the patience ended, or when it was tried."""


class LockLost(FencepostError):
    """A grant has ended without a release. Somebody else may hold the lock.

    The client library's own exception, if one was the cause, is the ``__cause__``.
    """


class MixedLayoutsWarning(UserWarning):
    """A contender of another layout is in the lock's directory. It cannot see ours, so it may be granted the
    lock as well: have all processes use one layout.
    """


class ReleaseUnconfirmed(FencepostError):
    """The server has not confirmed a release within 5 seconds. It is carried on with in the background."""

    def __init__(self, text: str, code: int = 501, name: str = "release-unconfirmed") -> None:
        super().__init__(text, code, name)


class WrongProcess(FencepostError):
    """A client or grant was used after a fork, in another process than the one that made it."""

    def __init__(self, text: str, code: int = 502, name: str = "wrong-process") -> None:
        super().__init__(text, code, name)


class DriverError(FencepostError):
    """A call of the client library has ended in a programming error: a fault of ours, or a version of the
    library that is not supported. Nothing is tried again, and the client is of no use any more.

    The programming error is the ``__cause__``.
    """

    def __init__(self, text: str, code: int = 506, name: str = "driver-failed") -> None:
        super().__init__(text, code, name)


class CleanupIncomplete(FencepostError):
    """A closed client has had to leave something on the server. It goes with its lease or session."""

    count: int
    """How many contenders the server has not answered for."""

    def __init__(
        self, text: str, code: int = 503, name: str = "cleanup-incomplete", *, count: int = 0
    ) -> None:
        super().__init__(text, code, name)
        self.count = count

    def __reduce__(self) -> tuple[object, ...]:
        return (_incomplete, (str(self), self.count))


def _incomplete(text: str, count: int) -> CleanupIncomplete:
    return CleanupIncomplete(text, count=count)
