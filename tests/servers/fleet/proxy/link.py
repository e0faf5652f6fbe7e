"""One client's connection through a proxy, with its connection to the server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

from .dialect import Dialect
from .meter import Meter

#: Connects this end to the server.
Connect = Callable[[asyncio.Protocol], Awaitable[None]]


class End(asyncio.Protocol):
    """One of the two connections of a link.

    Keeps the bytes to send until there is a connection and no verb holds the link.
    """

    def __init__(self, link: Link, receive: Callable[[bytes], None]) -> None:
        self._link = link
        self._receive = receive
        self._transport: asyncio.Transport | None = None
        self._pending = bytearray()
        self._finishing = False
        self.other: End
        self.finished = False

    def send(self, data: bytearray) -> None:
        """Sends, or keeps for later."""
        self._pending += data
        self.flush()

    def finish(self) -> None:
        """Closes this direction after the pending bytes."""
        self._finishing = True
        self.flush()

    def flush(self) -> None:
        """Sends the pending bytes, if that is possible now."""
        if self._transport is None or self._transport.is_closing() or self._link.held:
            return
        if self._pending:
            self._transport.write(bytes(self._pending))
            self._pending.clear()
        if self._finishing and not self.finished:
            self.finished = True
            with suppress(OSError):  # the peer has reset the connection, and asyncio has not noticed yet
                self._transport.write_eof()
            if self.other.finished:
                self._link.close()

    def close(self) -> None:
        """Closes the connection; the kernel and asyncio still send the bytes that they have."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Closes the connection now."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # asyncio sets this only for sockets with a protocol number, which accepted sockets do not have.
        # Without it, the second of two small replies would wait for the client's delayed acknowledgement of
        # the first, about 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._link.connected(self)
        self.flush()

    def data_received(self, data: bytes) -> None:
        if not self._link.ending:
            self._receive(data)

    def eof_received(self) -> bool:
        if self._link.ignored:
            self._link.end()
        self.other.finish()
        return True  # the other direction stays open

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.end()

    def pause_writing(self) -> None:
        if self.other._transport is not None:
            self.other._transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other._transport is not None:
            self.other._transport.resume_reading()


class Link:
    """Two connections, and the bytes between them."""

    def __init__(
        self, connect: Connect, dialect: Dialect, meter: Meter, over: Callable[[Link], None]
    ) -> None:
        self.held = False
        #: The delay of the server's replies, in seconds.
        self.delay = 0.0
        #: Whether the link never forwards anything.
        self.ignored = False
        #: Whether further input is ignored.
        self.ending = False
        #: The client's requests that arrived while the link was held, and still wait.
        self.kept: list[bytes] = []
        self._closed = False
        self._connect_end = connect
        self._dialect = dialect
        self._meter = meter
        self._tally = meter.connection()
        self._over = over
        self._connecting: asyncio.Task[None] | None = None
        self.client = End(self, self._from_client)
        self.server = End(self, self._from_server)
        self.client.other, self.server.other = self.server, self.client

    def connected(self, end: End) -> None:
        """Called when one of the connections is open."""
        if self._closed:
            end.abort()
        elif end is self.client and not self.held:
            self._connect()

    def hold(self) -> None:
        """Forwards nothing from now on, not even the end of a connection."""
        self.held = True

    def ignore(self) -> None:
        """Never forwards anything; the link ends when its client ends it."""
        self.held = self.ignored = True

    def release(self) -> None:
        """Forwards the kept bytes, and all later ones."""
        if self.ignored:
            return
        self.held = False
        self.kept.clear()
        if self._connecting is None:
            self._connect()
        self.client.flush()
        self.server.flush()
        if self.ending:
            self.close()

    def end(self) -> None:
        """Ends both connections after the pending bytes; a held link ends after its release."""
        self.ending = True
        if not self.held or self.ignored:
            self.close()

    def close(self, abort: bool = False) -> None:
        """Ends both connections now; with `abort`, drops the unsent bytes."""
        if self._closed:
            return
        self._closed = self.ending = True
        self._tally.open = False
        if self._connecting is not None:
            self._connecting.cancel()
        for end in (self.client, self.server):
            if abort:
                end.abort()
            else:
                end.close()
        self._over(self)

    def _connect(self) -> None:
        self._connecting = asyncio.ensure_future(self._open())

    async def _open(self) -> None:
        try:
            await self._connect_end(self.server)
        except OSError:
            self.end()

    def _from_client(self, data: bytes) -> None:
        forward = bytearray()
        for raw, request in self._dialect.requests(data):
            if request is not None:
                # The dialect already counts this request as waiting.
                self._meter.saw(request, self._tally, self._dialect.waiting - (not request.ping), len(raw))
                if self.held:
                    self.kept.append(raw)
            forward += raw
        self.server.send(forward)

    def _from_server(self, data: bytes) -> None:
        if self.delay > 0:
            asyncio.get_running_loop().call_later(self.delay, self._answer, data)
        else:
            self._answer(data)

    def _answer(self, data: bytes) -> None:
        if self._closed:
            return
        forward = bytearray()
        for raw, answered in self._dialect.replies(data):
            if answered is not None and answered.lose_reply:
                self._meter.lost()
                self.client.send(forward)
                self.end()
                return
            if answered is not None:
                self._meter.received(answered, len(raw))
            forward += raw
        self.client.send(forward)
