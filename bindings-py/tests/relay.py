"""A TCP relay whose target changes, as an address does after a failover, and that can leave a connection open
and dumb.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Pipe:
    """One connection through the relay."""

    def __init__(self, client: socket.socket, target: str) -> None:
        host, port = target.split(":")
        self.target = target
        self.sent = b""
        """What the client has said."""
        self.dumb = False
        """Nothing goes through any more, and both ends stay open."""
        self.is_over = False
        self._client = client
        self._server = socket.create_connection((host, int(port)))
        for source, sink in ((client, self._server), (self._server, client)):
            threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if source is self._client:
                    self.sent += data
                if not self.dumb:
                    sink.sendall(data)
        except OSError:
            pass
        if source is self._client:
            self.is_over = True
        self.close()

    def close(self) -> None:
        """Ends both connections."""
        for end in (self._client, self._server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Relay:
    """The relay. Connections that are there keep their target."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.pipes: list[Pipe] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                self.pipes.append(Pipe(client, self.target))
            except OSError:
                client.close()

    def close(self) -> None:
        """Ends everything."""
        self._listening.close()
        for pipe in self.pipes:
            pipe.close()


@contextmanager
def relayed(target: str) -> Iterator[Relay]:
    """A relay for a test."""
    relay = Relay(target)
    try:
        yield relay
    finally:
        relay.close()
