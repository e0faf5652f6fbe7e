"""The connections of the background thread. No other thread uses them."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from ..._engine.driver import EnginePort
from ..._fencepost import Command, is_from_replica
from ...hub._clock import now
from ._channels import PING, Channels, silent
from ._connection_pool import ConnectionPool
from ._errors import answer, failure
from ._settings import ANSWER_WITHIN, SILENT_AFTER
from ._wire import pack

_NEXT_PACKET = 0.001
"""How long the thread waits for the rest of a reply before it does other work, in seconds."""


class DriverConnection:
    """A connection and its commands. The thread makes it again after each loss. Only the background thread
    uses it.
    """

    def __init__(self, engine: EnginePort, pool: ConnectionPool) -> None:
        self.engine = engine
        self._pool = pool
        self._connection: Any = None

    def fileno(self) -> int | None:
        """The socket to wait for."""
        connection = self._connection
        if connection is None or connection._sock is None:
            return None
        return int(connection._sock.fileno())

    def send(self, commands: list[tuple[Command, bytes]], more: bytes = b"") -> bool:
        """Sends packed commands together, and then ``more``. Returns False if that failed: the engine then
        knows the outcome of the commands.
        """
        sent = False
        try:
            if self._connection is None:
                self._connection = self._pool.make(ANSWER_WITHIN)
            sent = True
            self._connection.send_packed_command(
                (b"".join(packed for _, packed in commands) + more,), check_health=False
            )
        except Exception as error:
            text = answer(error)
            for command, _ in commands:
                if text is None:
                    self.engine.failed(command.id, failure(error, sent), error)
                else:
                    self.engine.note(command.id, error)
                    self.engine.report(self.engine.hub.error_reply, command.id, text)
            self.lose(error)
            return False
        return True

    def read(self) -> None:
        """Reads everything that has arrived."""
        while self._connection is not None and self._connection._sock is not None:
            try:
                if not self._connection.can_read(timeout=0):
                    return
                self._connection._sock.settimeout(_NEXT_PACKET)
                value = self._connection.read_response(
                    disable_decoding=True, disconnect_on_error=False, **self.how_to_read
                )
            except RedisTimeoutError:  # The rest has not arrived yet. The next read starts at this reply.
                return
            except Exception as error:
                text = answer(error)
                if text is not None:
                    self.refused(text, error)
                if text is None or isinstance(error, RedisConnectionError):
                    # Also after a reply such as LOADING: redis-py would read this reply again.
                    self.lose(error)
            else:
                self.answered(value)

    how_to_read: ClassVar[dict[str, bool]] = {}

    def answered(self, value: Any) -> None:
        """A reply or a push has arrived."""

    def refused(self, text: str, error: BaseException) -> None:
        """An error has arrived."""

    def renew(self) -> None:
        """Closes the connection if its server is a replica now."""
        if self._connection is not None and not self._pool.is_current(self._connection):
            self.lose(None)

    def lose(self, error: BaseException | None) -> None:
        """Closes the connection after its loss."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.disconnect()
            if error is not None:
                self.engine.disconnected(error)


class ScriptConnection(DriverConnection):
    """The connection for scripts. The server replies to them in the order in which they were sent."""

    def __init__(self, engine: EnginePort, pool: ConnectionPool) -> None:
        super().__init__(engine, pool)
        self._pending: deque[tuple[int, int]] = deque()
        """The commands without a reply, each with the time when its reply is overdue."""

    def call(self, commands: list[Command]) -> None:
        """Sends the commands whose deadline has not passed."""
        time = now()
        timely = []
        for command in commands:
            if command.deadline is not None and command.deadline <= time:
                self.engine.failed(command.id, "not-sent", None)
            else:
                timely.append((command, pack(command.arguments)))
        if timely and self.send(timely):
            overdue = now() + int(SILENT_AFTER * 1e6)
            self._pending.extend((command.id, overdue) for command, _ in timely)

    def overdue(self) -> int | None:
        """When the first reply is overdue."""
        return self._pending[0][1] if self._pending else None

    def answered(self, value: Any) -> None:
        """See DriverConnection."""
        if self._pending:
            self.engine.report(self.engine.hub.reply, self._pending.popleft()[0], value)

    def refused(self, text: str, error: BaseException) -> None:
        """See DriverConnection."""
        if self._pending:
            id = self._pending.popleft()[0]
            self.engine.note(id, error)
            self.engine.report(self.engine.hub.error_reply, id, text)
        if is_from_replica(text) and self._connection is not None:
            self._pool.renew(self._connection)

    def lose(self, error: BaseException | None) -> None:
        """See DriverConnection."""
        super().lose(error)
        pending, self._pending = self._pending, deque()
        for id, _ in pending:
            self.engine.failed(id, "unknown", error)


class SubscriptionConnection(DriverConnection):
    """The connection for channels."""

    how_to_read: ClassVar[dict[str, bool]] = {"push_request": True}

    def __init__(self, engine: EnginePort, pool: ConnectionPool) -> None:
        super().__init__(engine, pool)
        self._channels = Channels(engine)

    def answered(self, value: Any) -> None:
        """See DriverConnection."""
        self._channels.answered(value)

    def refused(self, text: str, error: BaseException) -> None:
        """See DriverConnection."""
        self._channels.refused(text, error)

    def subscribe(self, command: Command) -> None:
        """Subscribes to a channel."""
        self._channels.opened()
        if self.send([(command, pack((b"SUBSCRIBE", command.arguments[0])))]):
            self._channels.subscribed(command)

    def unsubscribe(self, command: Command) -> None:
        """Unsubscribes from a channel."""
        if self._connection is not None:
            self.send([(command, pack((b"UNSUBSCRIBE", command.arguments[0])))])
        self._channels.unsubscribed(command)

    def due(self) -> int | None:
        """When to ping a silent server, or to close the connection."""
        return None if self._connection is None else self._channels.due()

    def ping_if_silent(self) -> None:
        """Pings a silent server. Closes the connection if the server has not replied to the ping."""
        due = self.due()
        if due is None or due > now():
            return
        if self._channels.is_dead():
            self.lose(silent())
        else:
            self.send([], PING)

    def lose(self, error: BaseException | None) -> None:
        """See DriverConnection."""
        super().lose(error)
        self._channels.lost(error)
