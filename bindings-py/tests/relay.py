"""A TCP relay whose target changes, as an address does after a failover. It can leave a connection open
without forwarding, delay the server's bytes, and reply to scripts with an error.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Pipe:
    """One connection through the relay."""

    def __init__(self, client: socket.socket, target: str, relay: Relay) -> None:
        host, port = target.split(":")
        self.target = target
        self.sent = b""
        """The bytes that the client has sent."""
        self.received = b""
        """The bytes that the client has received."""
        self.dumb = relay._dumb
        """The relay forwards nothing any more, and both ends stay open."""
        self.delay = 0.0
        """How long the relay delays the bytes of the server, in seconds."""
        self.is_over = False
        self._relay = relay
        self._answers: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        self._client = client
        self._server = socket.create_connection((host, int(port)))

    def start(self) -> None:
        """Begins to forward, once the relay knows the connection."""
        for source, sink in ((self._client, self._server), (self._server, self._client)):
            threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()
        threading.Thread(target=self._answer, daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if source is self._server:
                    self._answers.put((time.monotonic() + self.delay, data))
                    continue
                self.sent += data
                refusal = self._relay.refuse(data)
                if refusal:
                    self._answers.put((0.0, refusal))
                elif not self.dumb:
                    sink.sendall(data)
        except OSError:
            pass
        if source is self._client:
            self.is_over = True
            self.close()
        else:
            self._answers.put((0.0, b""))

    def _answer(self) -> None:
        while True:
            due, data = self._answers.get()
            if not data:
                break
            time.sleep(max(0.0, due - time.monotonic()))
            if self.dumb:
                continue
            try:
                self._client.sendall(data)
            except OSError:
                break
            self.received += data
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
    """The relay. Existing connections keep their target."""

    def __init__(self, target: str, host: str = "127.0.0.1") -> None:
        self.target = target
        self.pipes: list[Pipe] = []
        self.error = ""
        """The reply to every script; empty if the server replies."""
        self.refused = 0
        """How many scripts have got this reply."""
        self._dumb = False
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, 0), family=family)
        port = self._listening.getsockname()[1]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                self.pipes.append(Pipe(client, self.target, self))
                self.pipes[-1].start()
            except OSError:
                client.close()

    def fall_silent(self) -> None:
        """Stops forwarding on all connections, also on new ones."""
        self._dumb = True
        for pipe in self.pipes:
            pipe.dumb = True

    def refuse(self, data: bytes) -> bytes:
        """The relay's replies to the scripts in a client's bytes; empty if the server replies."""
        if not self.error:
            return b""
        scripts = data.count(b"\r\nEVAL")
        self.refused += scripts
        return f"-{self.error}\r\n".encode() * scripts

    def carries(self) -> bool:
        """Whether there is a connection."""
        return any(not pipe.is_over for pipe in self.pipes)

    def close(self) -> None:
        """Closes the relay and all connections."""
        self._listening.close()
        for pipe in self.pipes:
            pipe.close()


@contextmanager
def relayed(target: str, host: str = "127.0.0.1") -> Iterator[Relay]:
    """A relay for a test."""
    relay = Relay(target, host)
    try:
        yield relay
    finally:
        relay.close()
