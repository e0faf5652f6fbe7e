"""Loopback ports that a run keeps while a server is down.

A port from the kernel's ephemeral range is not suitable: while its server is down, any outgoing connection on
the machine may get that port, and a client that retries to connect can even connect to itself. So each run
owns a block of ports below that range. It owns the block while it listens on the block's first port (the
control port), because no other run can do so at the same time.
"""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path

HOST = "127.0.0.1"
FIRST = 10000
BLOCK = 200
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


class NoPort(Exception):
    """No free port is left."""


class Ports:
    """A block of ports. `control` is its listening first port."""

    def __init__(self) -> None:
        blocks = list(range(FIRST, limit() - BLOCK, BLOCK))
        random.shuffle(blocks)
        for base in blocks:
            try:
                self.control = listen(base)
            except OSError as error:
                if error.errno in (errno.EADDRINUSE, errno.EACCES):
                    continue
                raise
            self.control_port = base
            self._used: set[int] = set()
            self._next = 0
            return
        raise NoPort("no free block of ports")

    def take(self) -> int:
        """A port of the block that no program uses. A released port is reused as late as possible."""
        for _ in range(BLOCK - 1):
            port = self.control_port + 1 + self._next
            self._next = (self._next + 1) % (BLOCK - 1)
            if port not in self._used and is_free(port):
                self._used.add(port)
                return port
        raise NoPort(f"all {BLOCK - 1} ports of the block are in use")

    def release(self, port: int) -> None:
        """Returns a port to the block."""
        self._used.discard(port)


def limit() -> int:
    """The end of the range of ports: the begin of the ephemeral range, if that leaves enough ports."""
    try:
        low = int(EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        low = 32768
    return low if low >= FIRST + 10 * BLOCK else 60000


def listen(port: int) -> socket.socket:
    """A listening socket on a loopback port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(1024)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def is_free(port: int) -> bool:
    """Whether a program can listen on this port now."""
    try:
        listen(port).close()
    except OSError:
        return False
    return True
