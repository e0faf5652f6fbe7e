"""Network namespaces without a name: each ends with the last process, socket and file that uses it.

So nothing must be removed, and nothing remains, even after SIGKILL. Namespaces of `ip netns add` would
remain.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from .ports import HOST
from .server import ServerError

CLONE_NEWNET = 0x40000000
OURS = "/proc/self/ns/net"

_libc = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A fresh network namespace. Only the main thread may use it."""

    def __init__(self) -> None:
        with _coming_home():
            if _libc.unshare(CLONE_NEWNET) != 0:
                _complain()
            self._file = os.open(OURS, os.O_RDONLY)

    @property
    def path(self) -> str:
        """The path for other programs, while this process has it open."""
        return f"/proc/{os.getpid()}/fd/{self._file}"

    def enter(self) -> None:
        """Enters it permanently: for a child between fork and exec."""
        if _libc.setns(self._file, CLONE_NEWNET) != 0:
            _complain()

    def ip(self, *commands: str) -> None:
        """Runs these commands of the program `ip` in it."""
        done = subprocess.run(
            ["ip", "-batch", "-"],
            input="\n".join(commands) + "\n",
            capture_output=True,
            text=True,
            preexec_fn=self.enter,
        )
        if done.returncode != 0:
            raise ServerError(f"`ip` failed on {'; '.join(commands)}: {done.stderr.strip()}")

    def run(self, *command: str) -> None:
        """Runs a program in it."""
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=self.enter)
        if done.returncode != 0:
            raise ServerError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")

    async def connect(self, port: int) -> socket.socket:
        """Connects to its loopback address from inside."""
        with _coming_home():
            self.enter()
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await asyncio.get_running_loop().sock_connect(connection, (HOST, port))
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Closes it."""
        os.close(self._file)


@contextmanager
def _coming_home() -> Iterator[None]:
    """Returns to the thread's namespace after the block, which must not wait in another one."""
    home = os.open(OURS, os.O_RDONLY)
    try:
        yield
    finally:
        if _libc.setns(home, CLONE_NEWNET) != 0:
            _complain()
        os.close(home)


def _complain() -> NoReturn:
    error = os.strerror(ctypes.get_errno())
    raise ServerError(f"network namespaces need root (CAP_SYS_ADMIN and CAP_NET_ADMIN): {error}")
