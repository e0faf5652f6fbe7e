"""The driver for redis-py.

A thread that waits makes its round trips itself, on a connection of our own from the caller's settings:
redis-py's own ``execute_command`` sends again by itself what has had no answer, and takes twice as long. What
nobody waits for (renewals, retries, subscriptions) is the background's.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .._clock import now
from .._contender import Contender
from .._engine import Engine
from .._fencepost import Address, Command, Hub, is_from_replica
from ._redis_background import Background
from ._redis_common import ANSWER_WITHIN, answer, client_settings, failure, own_settings, pack, place

_MOST_IDLE = 8


class Connections:
    """Connections of our own, with the settings of a caller's pool."""

    def __init__(self, pool: Any) -> None:
        self.generation = 0
        """Grows when the server at the address is not the one any more: older connections are of no use."""
        self._pool = pool
        self.made: Callable[[], object] = lambda: None
        """Called when the server was reached."""
        self._idle: deque[Any] = deque()
        self._closed = False

    def make(self, limit: float) -> Any:
        """A new connection, connected. What is raised here was not sent."""
        settings = own_settings(self._pool, Retry(NoBackoff(), 0), ANSWER_WITHIN)
        connection = self._pool.connection_class(**settings)
        if limit < ANSWER_WITHIN:
            connection.socket_connect_timeout = min(limit, connection.socket_connect_timeout)
            connection.socket_timeout = limit
        connection.fencepost_generation = self.generation
        connection.connect()
        self.made()
        return connection

    def take(self, limit: float) -> Any:
        """A connection that nobody else uses."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self.make(limit)
            if self.is_current(connection) and _is_open(connection):
                return connection
            connection.disconnect()

    def give(self, connection: Any) -> None:
        """Gives a connection back. One that has had an error is disconnected already."""
        usable = connection._sock is not None and self.is_current(connection)
        if self._closed or not usable or len(self._idle) >= _MOST_IDLE:
            connection.disconnect()
        else:
            self._idle.append(connection)

    def is_current(self, connection: Any) -> bool:
        """Whether it was made since the server was last found to be another one."""
        return bool(connection.fencepost_generation == self.generation)

    def renew(self, connection: Any) -> None:
        """The server of this connection is a replica now: the next connections resolve the address again."""
        if self.is_current(connection):
            self.generation += 1

    def close(self) -> None:
        """Closes those that are not in use; the others when they are given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().disconnect()


def _is_open(connection: Any) -> bool:
    """Whether the server has not closed it meanwhile: what is sent then is lost, and nobody knows whether it
    was executed.
    """
    sock = connection._sock
    if sock is None:
        return False
    try:
        # Past TLS on purpose: only the end of the stream is of interest.
        sock.setblocking(False)
        return socket.socket.recv(sock, 1, socket.MSG_PEEK) != b""
    except (BlockingIOError, InterruptedError):
        return True
    except OSError:
        return False
    finally:
        sock.settimeout(connection.socket_timeout)


class RedisDriver:
    """Carries out commands beside a ``redis.Redis``, the caller's or its own."""

    def __init__(self, client: Any) -> None:
        self.inline = getattr(client.connection_pool, "service_name", None) is None
        """redis-py itself asks sentinels, for as long as it likes. A thread that waits with a limit of its
        own leaves that to the background.
        """
        self.hub = Hub("redis", id(client))
        self._place = place(client.connection_pool)
        self._connections = Connections(client.connection_pool)
        self._engine: Engine
        self._background: Background

    @classmethod
    def connect(cls, address: Address) -> RedisDriver:
        """A driver for an address."""
        return cls(redis.Redis(**client_settings(address)))

    def describe(self) -> str:
        """Where it connects to."""
        return self._place

    def start(self, engine: Engine) -> None:
        """See Driver."""
        self._engine = engine
        self._connections.made = engine.reached
        self._background = Background(engine, self._connections)

    def submit(self, command: Command) -> None:
        """See Driver."""
        self._background.submit(command)

    def carry_out(self, command: Command, contender: Contender) -> None:
        """See Driver: one round trip."""
        if command.operation != "call":
            self.submit(command)
            return
        engine, id = self._engine, command.id
        limit = ANSWER_WITHIN
        if command.deadline is not None:
            limit = min(max(0.001, (command.deadline - now()) / 1e6), limit)
        connection, sent = None, False
        if not self._background.runs:
            # What is to be done in the background may be asked for when no thread can be started any more.
            with engine.order:
                self._background.start()
        try:
            connection = self._connections.take(engine.reach.limit(limit))
            packed = pack(command.arguments)
            sent = True
            connection.send_packed_command((packed,), check_health=False)
            # What reads with a limit of its own is not in all versions.
            connection._sock.settimeout(limit)
            value = connection.read_response(disable_decoding=True)
        except Exception as error:
            text = answer(error)
            if connection is not None:
                if text is not None and is_from_replica(text):
                    self._connections.renew(connection)
                    self._background.renew()
                if text is None:
                    connection.disconnect()
                else:
                    self._connections.give(connection)
            if text is None:
                engine.failed(id, failure(error, sent), error, mine=contender)
            else:
                engine.note(id, error)
                engine.put(engine.hub.error_reply, id, text, mine=contender)
        except BaseException:
            # Interrupted: the answer may still come, so this connection is of no use any more.
            if connection is not None:
                connection.disconnect()
            engine.failed(id, "unknown" if sent else "not-sent", None)
            raise
        else:
            self._connections.give(connection)
            engine.put(engine.hub.reply, id, value, mine=contender)

    def after(self) -> None:
        """See Driver."""

    def forget(self, key: int) -> None:
        """See Driver."""

    def close(self, within: float) -> None:
        """Closes its own connections."""
        self._background.close(within)
        self._connections.close()
