"""The common part of the drivers for redis-py: settings of connections, the bytes of a command, the table of
errors.
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

from ..._fencepost import Address
from ...errors import ConfigError
from .._address import server

ANSWER_WITHIN = 5.0
"""How long a driver waits for an answer if the command has no deadline, in seconds."""
SILENT_AFTER = 4.9
"""After so many seconds without an answer, the driver closes a connection. It is less than the rest of a
lease of the default length when the client sends the renewal. A command's deadline does not close the
connection: a later answer is useful, too, and other commands wait for their answers on the connection.
"""

# Errors of the server. Some of them are connection errors for redis-py.
_ANSWERS = (ResponseError, AuthenticationError, AuthorizationError, BusyLoadingError, MasterDownError)

# redis-py before 8 does not give the code of an error.
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
    """The bytes of a command."""
    parts = [b"$%d\r\n%b\r\n" % (len(argument), argument) for argument in arguments]
    return b"*%d\r\n%b" % (len(parts), b"".join(parts))


def answer(error: BaseException) -> str | None:
    """The server's error as a text that begins with its code. None if the server has not answered."""
    if not isinstance(error, _ANSWERS):
        distrusted = distrust(error)
        return None if distrusted is None else f"ERR TLS: {distrusted}"
    text = str(error)
    code = getattr(error, "status_code", None) or _CODES.get(type(error), "")
    if not code and not _HAS_CODE(text):
        code = "ERR"
    if isinstance(error, AuthenticationError) and code not in ("NOAUTH", "WRONGPASS"):
        # Older servers send the code ERR, and redis-py raises some of these errors itself.
        code = "NOAUTH" if text == "Authentication required." else "WRONGPASS"
    return f"{code} {text}".strip()


def distrust(error: BaseException) -> ssl.SSLError | None:
    """The error of a TLS handshake that would fail again: the certificate is not trusted, or the server
    speaks no TLS. No command was sent.
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
    """The settings of a redis-py client for an address. With TLS, it checks the server's certificate."""
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
                f"the file of ca={address.ca} cannot be read as certificates: {error}. Give a PEM file",
                106,
                "invalid-url",
            ) from error
    return {
        **settings,
        "ssl": True,
        "ssl_cert_reqs": "required",
        "ssl_check_hostname": True,
        "ssl_ca_certs": address.ca,
    }


def conceal(error: BaseException) -> None:
    """Removes the passwords of sentinels from an error: redis-py 6 and 7 write the sentinels' settings into
    it.
    """
    if isinstance(error, exceptions.ConnectionError) and "password=" in str(error):
        error.args = (str(error).partition(" : ")[0],)


def failure(error: BaseException, sent: bool) -> str:
    """The failure of a command that ended in an exception without an answer."""
    return "unknown" if sent else "not-sent"


def own_settings(pool: Any, retry: Any, timeout: float | None) -> dict[str, Any]:
    """The settings of a driver's connection: those of the program's pool, but redis-py must not send a
    command again by itself.
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
    """The address of a pool, without the password."""
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
    return server(settings.get("host", "localhost"), settings.get("port", 6379))
