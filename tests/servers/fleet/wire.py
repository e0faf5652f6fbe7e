"""Single exchanges with a server: send some bytes, and read the reply until the server closes."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable

TIMEOUT = 2.0


class NoAnswer(Exception):
    """The server could not be reached, or did not reply in time."""


#: Makes a connection that `open_connection` cannot make; returns None if it can.
Dial = Callable[[], Awaitable[socket.socket | None]]


async def exchange(
    host: str,
    port: int,
    request: bytes,
    timeout: float = TIMEOUT,
    dial: Dial | None = None,
    tls: ssl.SSLContext | None = None,
) -> bytes:
    """Everything the server sends after `request` until it closes the connection."""
    try:
        return await asyncio.wait_for(_exchange(host, port, request, dial, tls), timeout)
    except (OSError, asyncio.TimeoutError) as error:
        raise NoAnswer(f"{host}:{port} does not answer ({type(error).__name__})") from error


async def _exchange(
    host: str, port: int, request: bytes, dial: Dial | None, tls: ssl.SSLContext | None
) -> bytes:
    dialled = await dial() if dial is not None else None
    if dialled is not None:
        reader, writer = await asyncio.open_connection(sock=dialled)
    else:
        reader, writer = await asyncio.open_connection(host, port, ssl=tls)
    try:
        writer.write(request)
        return await reader.read(-1)
    finally:
        writer.close()


def split_address(address: str) -> tuple[str, int]:
    """HOST:PORT as a pair."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdigit()):
        raise ValueError(f"not an address: {address!r}; expected HOST:PORT")
    return host, int(port)
