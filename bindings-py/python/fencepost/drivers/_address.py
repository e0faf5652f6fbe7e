"""The address of a server, for messages."""

from __future__ import annotations


def server(host: str, port: int) -> str:
    """``HOST:PORT`` as in an address: an IPv6 host has brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
