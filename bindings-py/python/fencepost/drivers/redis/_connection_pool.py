"""The connections of the driver for threads."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from redis.backoff import NoBackoff
from redis.retry import Retry

from ._errors import remove_passwords
from ._settings import ANSWER_WITHIN, connection_settings

_MOST_IDLE = 8


class ConnectionPool:
    """The driver's connections, with the settings of the program's pool."""

    def __init__(self, pool: Any) -> None:
        self.generation = 0
        """A number that grows when the address leads to another server. The pool closes connections of an
        older generation.
        """
        self._pool = pool
        self.on_connect: Callable[[], object] = lambda: None
        """Called after each new connection."""
        self.on_loss: Callable[[object], object] = lambda why: None
        """Called when the server has closed an idle connection."""
        self._idle: deque[Any] = deque()
        self._closed = False

    def make(self, limit: float) -> Any:
        """Makes a connection. If it raises, no command was sent."""
        settings = connection_settings(self._pool, Retry(NoBackoff(), 0), ANSWER_WITHIN)
        connection = self._pool.connection_class(**settings)
        if limit < ANSWER_WITHIN:
            connection.socket_connect_timeout = min(limit, connection.socket_connect_timeout)
            connection.socket_timeout = limit
        connection.fencepost_generation = self.generation
        try:
            connection.connect()
        except BaseException as error:
            # redis-py closes the socket only after its own errors.
            connection.disconnect()
            remove_passwords(error)
            raise
        self.on_connect()
        return connection

    def take(self, limit: float) -> Any:
        """Returns a connection that no other thread uses."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self.make(limit)
            if self.is_current(connection):
                if _is_open(connection):
                    return connection
                self.on_loss("the server has closed it")
            connection.disconnect()

    def give(self, connection: Any) -> None:
        """Takes a connection back. After an error it is already disconnected."""
        usable = connection._sock is not None and self.is_current(connection)
        if self._closed or not usable or len(self._idle) >= _MOST_IDLE:
            connection.disconnect()
        else:
            self._idle.append(connection)

    def is_current(self, connection: Any) -> bool:
        """Whether a connection is of the present generation."""
        return bool(connection.fencepost_generation == self.generation)

    def renew(self, connection: Any) -> None:
        """The server of this connection is a replica now. The next connections resolve the address again."""
        if self.is_current(connection):
            self.generation += 1

    def close(self) -> None:
        """Closes the idle connections now, and the others when they are returned."""
        self._closed = True
        while self._idle:
            self._idle.pop().disconnect()


def _is_open(connection: Any) -> bool:
    """Whether an idle connection is still open. A command that is sent on a closed one is lost, and its
    outcome would be unknown.
    """
    sock = connection._sock
    if sock is None:
        return False
    try:
        # The plain socket, without TLS, because this only checks for the end of the stream.
        sock.setblocking(False)
        return socket.socket.recv(sock, 1, socket.MSG_PEEK) != b""
    except (BlockingIOError, InterruptedError):
        return True
    except OSError:
        return False
    finally:
        sock.settimeout(connection.socket_timeout)
