"""Classifies the exceptions of redis-py: a reply of the server, or no reply."""

from __future__ import annotations

import re
import ssl

from redis import exceptions
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    MasterDownError,
    ResponseError,
)

# Errors of the server. Some of them are connection errors for redis-py.
_ANSWERS = (ResponseError, AuthenticationError, AuthorizationError, BusyLoadingError, MasterDownError)

# Before version 8, redis-py does not report the code of an error.
_CODES: dict[type[BaseException], str] = {
    exceptions.AskError: "ASK",
    exceptions.BusyLoadingError: "LOADING",
    exceptions.ClusterCrossSlotError: "CROSSSLOT",
    exceptions.ClusterDownError: "CLUSTERDOWN",
    exceptions.ExecAbortError: "EXECABORT",
    exceptions.MasterDownError: "MASTERDOWN",
    exceptions.MovedError: "MOVED",
    exceptions.NoPermissionError: "NOPERM",
    exceptions.NoScriptError: "NOSCRIPT",
    exceptions.OutOfMemoryError: "OOM",
    exceptions.ReadOnlyError: "READONLY",
    exceptions.TryAgainError: "TRYAGAIN",
}
_HAS_CODE = re.compile("[A-Z]{2,}(?: |$)").match


def answer(error: BaseException) -> str | None:
    """The server's error as a text that begins with its code. None if the server has not replied."""
    if not isinstance(error, _ANSWERS):
        tls_failure = tls_error(error)
        return None if tls_failure is None else f"ERR TLS: {tls_failure}"
    text = str(error)
    code = getattr(error, "status_code", None) or _CODES.get(type(error), "")
    if not code and not _HAS_CODE(text):
        code = "ERR"
    if isinstance(error, AuthenticationError) and code not in ("NOAUTH", "WRONGPASS"):
        # Older servers send the code ERR, and redis-py raises some of these errors itself.
        code = "NOAUTH" if text == "Authentication required." else "WRONGPASS"
    return f"{code} {text}".strip()


def tls_error(error: BaseException) -> ssl.SSLError | None:
    """The error of a TLS handshake that would fail again: the certificate is not trusted, or the server does
    not use TLS. No command was sent.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def remove_passwords(error: BaseException) -> None:
    """Removes the passwords of sentinels from an error: redis-py 6 and 7 write the sentinels' settings into
    it.
    """
    if isinstance(error, exceptions.ConnectionError) and "password=" in str(error):
        error.args = (str(error).partition(" : ")[0],)


def failure(error: BaseException, sent: bool) -> str:
    """The failure of a command that ended in an exception without a reply."""
    return "unknown" if sent else "not-sent"
