"""The driver for redis-py.

A waiting thread makes its round trips itself, on a connection that the driver makes with the program's
settings. The driver does not use redis-py's ``execute_command``: that silently sends a command again if it
has no answer, and takes twice as long. The background thread does what no thread waits for: renewals,
retries, subscriptions.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ..._engine.contender import Contender, State
from ..._engine.engine import Engine
from ..._fencepost import Address, Command, Hub, is_from_replica
from ...hub._clock import now
from ._background import Background
from ._common import (
    ANSWER_WITHIN,
    SILENT_AFTER,
    answer,
    client_settings,
    conceal,
    failure,
    own_settings,
    pack,
    place,
)

_MOST_IDLE = 8


class Connections:
    """The driver's connections, with the settings of the program's pool."""

    def __init__(self, pool: Any) -> None:
        self.generation = 0
        """It grows when the address leads to another server. Connections of an older generation are closed.
        """
        self._pool = pool
        self.made: Callable[[], object] = lambda: None
        """Called after each new connection."""
        self._idle: deque[Any] = deque()
        self._closed = False

    def make(self, limit: float) -> Any:
        """Makes a connection. If it raises, no command was sent."""
        settings = own_settings(self._pool, Retry(NoBackoff(), 0), ANSWER_WITHIN)
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
            conceal(error)
            raise
        self.made()
        return connection

    def take(self, limit: float) -> Any:
        """A connection that no other thread uses."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self.make(limit)
            if self.is_current(connection) and _is_open(connection):
                return connection
            connection.disconnect()

    def give(self, connection: Any) -> None:
        """Returns a connection. After an error it is disconnected already."""
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
    """Whether the server has not closed an idle connection. A command that is sent on a closed one is lost,
    and its outcome would be unknown.
    """
    sock = connection._sock
    if sock is None:
        return False
    try:
        # The plain socket, without TLS, because this only looks for the end of the stream.
        sock.setblocking(False)
        return socket.socket.recv(sock, 1, socket.MSG_PEEK) != b""
    except (BlockingIOError, InterruptedError):
        return True
    except OSError:
        return False
    finally:
        sock.settimeout(connection.socket_timeout)


class RedisDriver:
    """Carries out commands with the settings of a ``redis.Redis`` of the program or of its own."""

    def __init__(self, client: Any) -> None:
        self.inline = getattr(client.connection_pool, "service_name", None) is None
        """False with sentinels: redis-py asks them without a limit, so the background thread does that, and
        not a waiting thread with a timeout.
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
        """The address of the server."""
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
        limit, until = ANSWER_WITHIN, command.deadline
        if contender.state is State.HELD:
            # While the grant lasts, an answer to a renewal is useful.
            limit, until = SILENT_AFTER, contender.valid_until
        if until is not None:
            limit = min(max(0.001, (until - now()) / 1e6), limit)
        connection, sent = None, False
        if not self._background.runs:
            # The background may be needed later, when Python starts no threads any more.
            with engine.order:
                self._background.start()
        try:
            connection = self._connections.take(engine.reach.limit(limit))
            packed = pack(command.arguments)
            sent = True
            connection.send_packed_command((packed,), check_health=False)
            # Not all versions of redis-py have a read with a timeout.
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
            # Interrupted: the answer may still come, so no other command may use this connection.
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
        """Closes the driver's connections."""
        self._background.close(within)
        self._connections.close()
