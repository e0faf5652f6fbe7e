"""The driver for redis-py.

A waiting thread makes its round trips itself, on a connection that the driver makes with the program's
settings. The driver does not use redis-py's ``execute_command``: that silently sends a command again if it
has no reply, and takes twice as long. The background thread does the work for which no thread waits:
renewals, retries, subscriptions.
"""

from __future__ import annotations

from typing import Any

import redis

from ..._engine.contender import Contender, State
from ..._engine.driver import EnginePort
from ..._engine.signals import raised_by_program
from ..._engine.threads import NoThread
from ..._fencepost import Address, Command, Hub, is_from_replica
from ...hub._clock import now
from ._background import Background
from ._connection_pool import ConnectionPool
from ._errors import answer, failure
from ._settings import ANSWER_WITHIN, SILENT_AFTER, address_of, check_pool, client_settings
from ._wire import pack


class RedisDriver:
    """Carries out commands with the settings of a ``redis.Redis``, made by the program or the driver."""

    def __init__(self, client: Any) -> None:
        check_pool(client.connection_pool)
        self.inline = getattr(client.connection_pool, "service_name", None) is None
        """False with sentinels. Their queries have no common time limit, so the background thread makes them,
        and not a waiting thread with a timeout.
        """
        self.needs_thread = not self.inline
        self.hub = Hub("redis", id(client))
        self._address = address_of(client.connection_pool)
        self._pool = ConnectionPool(client.connection_pool)
        self._engine: EnginePort
        self._background: Background

    @classmethod
    def connect(cls, address: Address) -> RedisDriver:
        """A driver for an address."""
        return cls(redis.Redis(**client_settings(address)))

    def describe(self) -> str:
        """The address of the server."""
        return self._address

    def start(self, engine: EnginePort) -> None:
        """See Driver."""
        self._engine = engine
        self._pool.on_connect = engine.connected
        self._pool.on_loss = engine.disconnected
        self._background = Background(engine, self._pool)

    def submit(self, command: Command) -> None:
        """See Driver."""
        self._background.submit(command)

    def _interrupted(self, id: int, connection: Any, sent: bool) -> None:
        """Called when an exception of the program has interrupted a command. The reply may still arrive, so
        no other command may use this connection.
        """
        if connection is not None:
            connection.disconnect()
        self._engine.failed(id, "unknown" if sent else "not-sent", None)

    def carry_out(self, command: Command, contender: Contender) -> None:
        """See Driver: one round trip."""
        if command.operation != "call":
            self.submit(command)
            return
        engine, id = self._engine, command.id
        limit, until = ANSWER_WITHIN, command.deadline
        if contender.state is State.HELD:
            # While the grant lasts, a reply to a renewal is useful.
            limit, until = SILENT_AFTER, contender.valid_until
        if until is not None:
            limit = min(max(0.001, (until - now()) / 1e6), limit)
        connection, sent = None, False
        if not self._background.runs:
            # The client needs the background thread later, to renew a lease. Python may start no thread then.
            try:
                with engine.order:
                    self._background.start()
            except NoThread as error:
                engine.failed(id, "not-sent", error, mine=contender)
                return
        try:
            connection = self._pool.take(engine.reachability.limit(limit))
            packed = pack(command.arguments)
            sent = True
            connection.send_packed_command((packed,), check_health=False)
            # Not all versions of redis-py have a read with a timeout.
            connection._sock.settimeout(limit)
            value = connection.read_response(disable_decoding=True)
        except Exception as error:
            theirs = raised_by_program(error)
            if theirs is not None:
                self._interrupted(id, connection, sent)
                raise theirs from theirs.__cause__
            text = answer(error)
            if connection is not None:
                if text is not None and is_from_replica(text):
                    self._pool.renew(connection)
                    self._background.renew()
                if text is None:
                    connection.disconnect()
                    engine.disconnected(error)
                else:
                    self._pool.give(connection)
            if text is None:
                engine.failed(id, failure(error, sent), error, mine=contender)
            else:
                engine.note(id, error)
                engine.report(engine.hub.error_reply, id, text, mine=contender)
        except BaseException:
            self._interrupted(id, connection, sent)
            raise
        else:
            self._pool.give(connection)
            engine.report(engine.hub.reply, id, value, mine=contender)

    def after(self) -> None:
        """See Driver."""

    def forget(self, key: int) -> None:
        """See Driver."""

    def close(self, within: float) -> None:
        """Closes the driver's connections."""
        self._background.close(within)
        self._pool.close()
