"""Ends a ZooKeeper session from outside, by taking it over and closing it.

The server ends the session at once (it deletes the ephemeral nodes, and watches fire). The session's owner
gets the expiry at its next request, ping or reconnect.
"""

from __future__ import annotations

import asyncio
import struct

from .server import ServerError

SECONDS = 10.0
AGAIN_SECONDS = 0.05
TIMEOUT_MS = 10_000
CLOSE_SESSION = -11


async def expire(host: str, port: int, session: int, password: bytes) -> None:
    """Ends `session` (the signed number), or fails if the server does not accept the connection to it."""
    try:
        await asyncio.wait_for(_expire(host, port, session, password), SECONDS)
    except asyncio.TimeoutError:
        raise ServerError(f"{host}:{port} did not end the session within {SECONDS:.0f} s") from None
    except (OSError, struct.error) as error:
        raise ServerError(f"{host}:{port} does not speak to us: {error}") from error


async def _expire(host: str, port: int, session: int, password: bytes) -> None:
    asked = False
    while True:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            if not await _take_over(reader, writer, session, password):
                if asked:
                    return
                raise ServerError(
                    f"{host}:{port} has no session {show(session)} with this password; "
                    "it may have ended already"
                )
            asked = True
            await _ask(reader, writer, struct.pack(">ii", 1, CLOSE_SESSION))
            return
        except (asyncio.IncompleteReadError, ConnectionResetError):
            # A member of an ensemble closes connections while it has no leader, even after it has forwarded
            # the request. So check again.
            await asyncio.sleep(AGAIN_SECONDS)
        finally:
            writer.close()


async def _take_over(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session: int, password: bytes
) -> bool:
    # Protocol version, last zxid seen, session timeout, session id, password, read-only.
    connect = struct.pack(">iqiqi", 0, 0, TIMEOUT_MS, session, len(password)) + password + b"\0"
    _version, timeout, granted = struct.unpack_from(">iiq", await _ask(reader, writer, connect))
    return bool(timeout > 0 and granted == session)


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> bytes:
    writer.write(struct.pack(">i", len(message)) + message)
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


def parse_session(text: str) -> int:
    """A session id as the signed number of the protocol, from decimal (of either sign) or 0x hex."""
    try:
        number = int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        raise ValueError(f"not a session id: {text!r}; expected a decimal number or 0x...") from None
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError(f"session id out of range: {text}")
    return number - (1 << 64) if number >= 1 << 63 else number


def show(session: int) -> str:
    """A session id as ZooKeeper's logs show it."""
    return f"{session & ((1 << 64) - 1):#x}"
