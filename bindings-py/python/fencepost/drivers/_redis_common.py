"""What the drivers for redis-py have in common: connections of their own, the bytes of a command, the table
of errors.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from typing import Any

from redis import exceptions
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    MasterDownError,
    ResponseError,
)

from .._fencepost import Address
from ..errors import ConfigError

ANSWER_WITHIN = 5.0
"""For how many seconds an answer is waited for where the core names no deadline."""

# What redis-py takes for troubles of the connection, although the server has answered.
_ANSWERS = (ResponseError, AuthenticationError, AuthorizationError, BusyLoadingError, MasterDownError)

# Versions before 8 keep the code of an error to themselves.
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


def pack(arguments: Iterable[bytes]) -> bytes:
    """A command in the protocol's bytes."""
    parts = [b"$%d\r\n%b\r\n" % (len(argument), argument) for argument in arguments]
    return b"*%d\r\n%b" % (len(parts), b"".join(parts))


def answer(error: BaseException) -> str | None:
    """The text of an error that the server has answered with, its code first; None: the server has not
    answered.
    """
    if not isinstance(error, _ANSWERS):
        distrusted = distrust(error)
        return None if distrusted is None else f"ERR TLS: {distrusted}"
    text = str(error)
    code = getattr(error, "status_code", None) or _CODES.get(type(error), "")
    if not code and not _HAS_CODE(text):
        code = "ERR"
    if isinstance(error, AuthenticationError) and code not in ("NOAUTH", "WRONGPASS"):
        # Older servers say it with the code ERR, and redis-py also by itself.
        code = "NOAUTH" if text == "Authentication required." else "WRONGPASS"
    return f"{code} {text}".strip()


def distrust(error: BaseException) -> ssl.SSLError | None:
    """What a server has shown, or speaks, that it must not: a certificate that nobody vouches for, or no TLS.
    It would again. This comes of a handshake alone, so nothing was sent.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def client_settings(address: Address) -> dict[str, Any]:
    """The settings of a redis-py client for an address. With TLS it makes sure of the server."""
    settings: dict[str, Any] = {
        "host": address.host,
        "port": address.port,
        "db": address.database,
        "username": address.user or None,
        "password": address.password or None,
    }
    if not address.tls:
        return settings
    if address.ca is not None:
        try:
            ssl.create_default_context(cafile=address.ca)
        except OSError as error:
            raise ConfigError(
                f"ca={address.ca}: {error}: give a file of certificates", 106, "invalid-url"
            ) from error
    return {
        **settings,
        "ssl": True,
        "ssl_cert_reqs": "required",
        "ssl_check_hostname": True,
        "ssl_ca_certs": address.ca,
    }


def failure(error: BaseException, sent: bool) -> str:
    """What an exception that is no answer says of its command."""
    return "unknown" if sent else "not-sent"


def own_settings(pool: Any, retry: Any, timeout: float | None) -> dict[str, Any]:
    """The settings of a connection of our own, like those of the caller's pool, but without silent
    re-sending.
    """
    settings = dict(pool.connection_kwargs)
    for name in (
        "maint_notifications_config",
        "maint_notifications_pool_handler",
        "retry_on_error",
        "retry_on_timeout",
    ):
        settings.pop(name, None)
    limit = settings.get("socket_connect_timeout")
    settings.update(
        retry=retry,
        health_check_interval=0,
        decode_responses=False,
        socket_timeout=timeout,
        socket_connect_timeout=min(limit or ANSWER_WITHIN, ANSWER_WITHIN),
    )
    return settings


def place(pool: Any) -> str:
    """Where a pool connects to, without the password."""
    settings = pool.connection_kwargs
    if "path" in settings:
        return f"unix://{settings['path']}"
    secure = "ssl" in getattr(pool.connection_class, "__name__", "").lower()
    scheme = "rediss" if secure else "redis"
    database = settings.get("db") or 0
    service = getattr(pool, "service_name", None)
    if service is None:
        return f"{scheme}://{_server(settings)}/{database}"
    sentinels = [each.connection_pool.connection_kwargs for each in pool.sentinel_manager.sentinels]
    return f"{scheme}+sentinel://{','.join(map(_server, sentinels))}/{service}/{database}"


def _server(settings: dict[str, Any]) -> str:
    """A server's host and port."""
    host = settings.get("host", "localhost")
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{settings.get('port', 6379)}"
