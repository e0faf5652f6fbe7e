"""Functions for the texts of errors: names, values and addresses. Also the error for a wrong type."""

from __future__ import annotations

from ..errors import ConfigError

_MOST_SHOWN = 64
"""The largest number of characters of a name in the text of an error."""


def shown(name: str) -> str:
    """A name for an error's text: the whole name, or the beginning of a long one."""
    return name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}…"


def described(value: object) -> str:
    """A value for an error's text, even if its ``repr`` raises."""
    try:
        return shown(repr(value))
    except Exception:
        return f"an object of {type(value).__name__}"


def unreadable(text: str) -> ConfigError:
    """The error for a value of a wrong type."""
    return ConfigError(text, 109, "unreadable-settings")


def host_and_port(host: str, port: int) -> str:
    """``HOST:PORT`` as in an address: an IPv6 host has brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
