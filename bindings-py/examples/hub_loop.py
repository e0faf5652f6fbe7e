"""The hub alone, in the program's own event loop, over a plain socket to a Redis server. Arguments:
HOST:PORT, the lock's name.

It acquires the lock, prints that, holds it for a second and releases it. It uses only :mod:`fencepost.hub`,
and no client.
"""

from __future__ import annotations

import os
import select
import socket
import sys
from collections import deque

from fencepost.hub import Command, Event, Hub, Settings, Wait, now

HELD_FOR = 1_000_000


class Redis:
    """A minimal Redis client: sends commands, and returns the replies that it has read so far."""

    def __init__(self, address: str) -> None:
        host, _, port = address.partition(":")
        self.socket = socket.create_connection((host, int(port)))
        self._received = b""

    def send(self, *arguments: bytes) -> None:
        """Sends a command."""
        parts = [b"$%d\r\n%b\r\n" % (len(argument), argument) for argument in arguments]
        self.socket.sendall(b"*%d\r\n%b" % (len(parts), b"".join(parts)))

    def receive(self) -> list[object]:
        """The replies that have arrived. Raises ConnectionError if the server has closed the connection."""
        received = self.socket.recv(65536)
        if not received:
            raise ConnectionError("closed by the server")
        self._received += received
        replies = []
        while (parsed := parse(self._received, 0)) is not None:
            reply, end = parsed
            self._received = self._received[end:]
            replies.append(reply)
        return replies


def parse(data: bytes, start: int) -> tuple[object, int] | None:
    """One reply and the offset of its end. None: the reply is not complete yet."""
    end = data.find(b"\r\n", start)
    if end < 0:
        return None
    kind, text, rest = data[start : start + 1], data[start + 1 : end], end + 2
    if kind == b"+":
        return text, rest
    if kind == b"-":
        return RuntimeError(text.decode()), rest
    if kind == b":":
        return int(text), rest
    length = int(text)
    if length < 0:
        return None, rest
    if kind == b"$":
        return (data[rest : rest + length], rest + length + 2) if len(data) >= rest + length + 2 else None
    items = []
    for _ in range(length):
        parsed = parse(data, rest)
        if parsed is None:
            return None
        item, rest = parsed
        items.append(item)
    return items, rest


def main(address: str, name: str) -> None:
    """The loop."""
    redis = Redis(address)
    hub = Hub("redis", seed=int.from_bytes(os.urandom(4), "big"))
    settings = Settings(f'{{"kind": "redis-string", "name": "{name}", "ttl": 3000000}}')
    key = hub.open(now(), settings, contender=os.urandom(16), seed=1)
    hub.acquire(now(), key)
    sent: deque[int] = deque()
    release_at: int | None = None

    while True:
        # 1. Handle all outputs, until the hub returns a Wait.
        output = hub.poll_output()
        if isinstance(output, Command):
            # 2. Send it. Do not wait for its reply before the next output.
            if output.operation == "call":
                redis.send(*output.arguments)
                sent.append(output.id)
            else:
                # This driver has no subscriptions, so the hub polls the lock.
                hub.failed(now(), output.id, "not-sent")
        elif isinstance(output, Event):
            # 3. Notify the application.
            print(output.name, output.fence or "", flush=True)
            if output.name == "acquired":
                release_at = now() + HELD_FOR
            if output.name in ("released", "lost", "refused"):
                hub.close(now(), key)
        elif isinstance(output, Wait):
            # 4. Wait for a reply, at most until that time. End if nothing is pending.
            if not hub.pending:
                return
            times = [time for time in (output.until, release_at) if time is not None]
            timeout = max(0, min(times) - now()) / 1e6 if times else None
            readable, _, _ = select.select([redis.socket], [], [], timeout)
            if readable:
                for reply in redis.receive():
                    if isinstance(reply, RuntimeError):
                        hub.error_reply(now(), sent.popleft(), str(reply))
                    else:
                        hub.reply(now(), sent.popleft(), reply)
            if release_at is not None and release_at <= now():
                release_at = None
                hub.release(now(), key)
            hub.handle_timeout(now())


if __name__ == "__main__":
    main(*sys.argv[1:])
