"""The control port: a line of text in, a line of JSON out, as often as the client likes."""

from __future__ import annotations

import asyncio
import json
import socket

from .verbs import Verbs


async def serve_control(listener: socket.socket, verbs: Verbs) -> None:
    """Serves until the process ends. Each connection's commands are done in their order."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                line = await reader.readline()
                if not line:
                    break
                reply = await verbs.obey(line.decode(errors="replace"))
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError):
            pass  # the client went away, or sent an endless line
        finally:
            writer.close()

    await asyncio.start_server(serve, sock=listener)
