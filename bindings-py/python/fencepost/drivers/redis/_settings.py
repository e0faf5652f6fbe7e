"""The settings of connections, and how long a driver waits on one."""

from __future__ import annotations

import os
import ssl
from inspect import iscoroutinefunction
from typing import Any

from ..._engine.wording import host_and_port
from ..._fencepost import Address
from ...errors import ConfigError
from ._sentinels import AsyncSentinels, Sentinels

ANSWER_WITHIN = 5.0
"""How long a driver waits for a reply if the command has no deadline, in seconds."""
SILENT_AFTER = 4.9
"""After this many seconds without a reply, the driver closes a connection. When the client sends a renewal,
the rest of a lease of the default length is longer than this. A command's deadline does not close the
connection: a later reply is useful, too, and other commands wait for their replies on the connection.
"""


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


def check_pool(pool: Any) -> None:
    """Raises ConfigError for a pool on which no acquire can succeed."""
    if not getattr(pool, "is_master", True):
        name = pool.service_name
        raise ConfigError(
            f"the redis-py client is one of slave_for({name!r}), and replicas refuse all writes. Give the "
            f"client of master_for({name!r})",
            110,
            "invalid-option",
        )
    _check_files(pool)


def _check_files(pool: Any) -> None:
    """Raises ConfigError if a file for TLS is missing. redis-py would look for it at each attempt to connect,
    so an acquire would wait until its limit.
    """
    for name in ("ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile"):
        path = pool.connection_kwargs.get(name)
        if path and not os.path.exists(path):
            raise ConfigError(
                f"{name} of the redis-py client is {os.fspath(path)!r}, which does not exist: "
                "give the path of a file that exists",
                110,
                "invalid-option",
            )


def connection_settings(pool: Any, retry: Any, timeout: float | None) -> dict[str, Any]:
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
    if hasattr(pool, "sentinel_manager"):
        kind = AsyncSentinels if iscoroutinefunction(pool.sentinel_manager.discover_master) else Sentinels
        settings["connection_pool"] = kind(pool, retry)
    limit = settings.get("socket_connect_timeout")
    settings.update(
        retry=retry,
        health_check_interval=0,
        decode_responses=False,
        socket_timeout=timeout,
        socket_connect_timeout=min(limit or ANSWER_WITHIN, ANSWER_WITHIN),
    )
    return settings


def address_of(pool: Any) -> str:
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
    # redis-py also connects to this computer if the host is None.
    return host_and_port(settings.get("host") or "localhost", settings.get("port", 6379))
