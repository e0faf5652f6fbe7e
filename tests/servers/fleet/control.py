"""The control port: replies to each line of text with a line of JSON."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .verbs import Verbs


@asynccontextmanager
async def control_port(listener: socket.socket, verbs: Verbs) -> AsyncIterator[None]:
    """Serves inside the `async with`. At its end, all running commands end."""
    clients: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.ensure_future(serve(reader, writer, verbs))
        clients.add(client)
        client.add_done_callback(clients.discard)

    server = await asyncio.start_server(accept, sock=listener)
    try:
        yield
    finally:
        server.close()
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, verbs: Verbs) -> None:
    """Serves one client. Runs its commands in their order."""
    try:
        while True:
            line = await reader.readline()
            if not line:
                break
            reply = await verbs.obey(line.decode(errors="replace"))
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()
    except (OSError, ValueError):
        pass  # the client has closed the connection, or sent a line without an end
    finally:
        writer.close()
