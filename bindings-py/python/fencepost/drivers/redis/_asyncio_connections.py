"""The connections of the driver for asyncio."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, ClassVar

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ..._engine.driver import EnginePort
from ..._engine.faults import is_fault
from ..._engine.timer import TURN
from ..._fencepost import Command, is_from_replica
from ...hub._clock import now
from ._channels import PING, Channels
from ._errors import answer, failure, remove_passwords
from ._settings import ANSWER_WITHIN, SILENT_AFTER, connection_settings
from ._wire import pack

_END_WITHIN = 5.0
"""If the program cancels the task, connections close as soon as they are idle, for this many seconds."""
_END_PAUSE = 0.01
"""How long the task then waits before it connects, in seconds. A loop that ends at once would abandon the
attempt.
"""


def abort_on_disconnect(connection: Any, loop: asyncio.AbstractEventLoop) -> Any:
    """Makes redis-py close the socket at once whenever it disconnects, also after the server refused it.

    With TLS, redis-py would wait for the server's closing message. The loop may end before that message
    arrives.
    """
    disconnect = connection.disconnect

    async def disconnect_at_once(*_: object, **__: object) -> None:
        if loop.is_closed():  # Python drops the task, and that closes the socket.
            return
        writer = connection._writer
        try:
            await disconnect(nowait=True)
        finally:
            if writer is not None:
                writer.transport.abort()

    connection.disconnect = disconnect_at_once
    return connection


class DriverConnection:
    """A connection. Its task makes it when there is a command to send, and makes it again after a loss."""

    def __init__(self, engine: EnginePort, loop: asyncio.AbstractEventLoop, pool: Any) -> None:
        self.engine = engine
        self.loop = loop
        self._pool = pool
        self._connection: Any = None
        self._writer: Any = None
        self._waiting: list[tuple[Command, bytes]] = []
        """The commands that are sent as soon as the connection is made."""
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._ends_until = 0.0
        """Until then, the connection closes as soon as it is idle: the loop probably ends soon, because the
        program has cancelled the task, as `asyncio.run` does at its end.
        """

    def send(self, command: Command, packed: bytes) -> None:
        """Sends a packed command. If there is no connection, the task makes one first."""
        if self._closed or self.loop.is_closed():
            self.engine.failed(command.id, "closed", None)
            return
        writer = self._writer
        if writer is None:
            self._waiting.append((command, packed))
            if self._task is None:
                self._task = Context().run(self._start)
                self._task._log_destroy_pending = False  # type: ignore[attr-defined]
            return
        writer.write(packed)
        self.sent(command)

    def _start(self) -> asyncio.Task[None]:
        return self.loop.create_task(self._run(), name="fencepost redis")

    def later(self, seconds: float, call: Callable[..., object], *arguments: object) -> asyncio.TimerHandle:
        """Calls a function later, without the context variables of the task that sends a command now."""
        return self.loop.call_later(seconds, call, *arguments, context=Context())

    def sent(self, command: Command) -> None:
        """A command was sent."""

    def answered(self, value: Any) -> None:
        """A reply or a push has arrived."""

    def refused(self, text: str, error: BaseException) -> None:
        """An error has arrived."""

    def lost(self, error: BaseException | None) -> None:
        """The connection is lost. The server will not reply to the commands that were sent."""

    @property
    def is_idle(self) -> bool:
        """Whether no reply is pending, and no message is expected."""
        return False

    @property
    def is_over(self) -> bool:
        """Whether the connection is closing. The task may still read replies that arrived before."""
        return self._writer is None or self._writer.transport.is_closing()

    def abort(self) -> None:
        """Closes the connection at once."""
        if self._writer is not None:
            self._writer.transport.abort()

    async def ended(self) -> None:
        """Waits until the task has ended."""
        task = self._task
        if task is not None:
            await asyncio.wait([task])

    def drop(self) -> None:
        """Ends the task without waiting."""
        self._closed = True
        if self._task is not None and not self.loop.is_closed():
            self._task.cancel()

    async def _run(self) -> None:
        error: BaseException | None = None
        try:
            if self._is_ending():
                await asyncio.sleep(_END_PAUSE)
            await self._connect()
            # An exception means that the connection is lost.
            await self._read()
        except asyncio.CancelledError:
            if not self._closed:
                self._ends_until = self.loop.time() + _END_WITHIN
            raise
        except Exception as caught:
            remove_passwords(caught)
            error = caught
        finally:
            self._task = None
            connection, self._connection = self._connection, None
            had_connection, self._writer = self._writer is not None, None
            waiting, self._waiting = self._waiting, []
            try:
                if connection is not None:
                    await connection.disconnect()
            except Exception as caught:
                # The earlier error is more useful, unless only this one is a programming error.
                remove_passwords(caught)
                if is_fault(caught) and not is_fault(error):
                    error = caught
            finally:
                for command, _ in waiting:
                    self._settle_unsent(command, error)
                self.lost(error)
                if error is not None and had_connection:
                    self.engine.disconnected(error)
                if error is not None and is_fault(error):
                    self.engine.fail(error)

    async def _connect(self) -> None:
        settings = connection_settings(self._pool, Retry(NoBackoff(), 0), ANSWER_WITHIN)
        self._connection = abort_on_disconnect(self._pool.connection_class(**settings), self.loop)
        await _within(self._connection.connect(), ANSWER_WITHIN)
        self.engine.connected()
        self._writer = self._connection._writer
        waiting, self._waiting = self._waiting, []
        time = now()
        for command, packed in waiting:
            if command.deadline is not None and command.deadline <= time:
                self._settle_unsent(command, None)
            else:
                self._writer.write(packed)
                self.sent(command)

    async def _read(self) -> None:
        read = self._connection.read_response
        while not (self.is_idle and self._is_ending()):
            try:
                value = await read(
                    disable_decoding=True,
                    timeout=math.inf,
                    # Some versions of redis-py would close the connection after an error of the server.
                    disconnect_on_error=False,
                    **self.how_to_read,
                )
            except Exception as error:
                text = answer(error)
                if text is None or self._connection is None or not self._connection.is_connected:
                    raise
                self.refused(text, error)
            else:
                self.answered(value)

    how_to_read: ClassVar[dict[str, bool]] = {}

    def _is_ending(self) -> bool:
        return self.loop.time() < self._ends_until

    def _settle_unsent(self, command: Command, error: BaseException | None) -> None:
        text = None if error is None else answer(error)
        hub = self.engine.hub
        if text is None:
            outcome = "not-sent" if error is None else failure(error, False)
            self.engine.failed(command.id, outcome, error)
        else:
            self.engine.note(command.id, error)
            self.engine.report(hub.error_reply, command.id, text)


async def _within(what: Coroutine[Any, Any, object], seconds: float) -> None:
    """Waits for a coroutine, or raises TimeoutError.

    Before Python 3.12, `wait_for` drops a cancellation that arrives together with the result. The task would
    continue while its loop waits for its end.
    """
    task = asyncio.ensure_future(what)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    try:
        await asyncio.wait([task], timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
    if task.cancelled():
        raise asyncio.TimeoutError
    task.result()


class ScriptConnection(DriverConnection):
    """The connection for scripts. The server replies to them in the order in which they were sent."""

    def __init__(
        self, engine: EnginePort, loop: asyncio.AbstractEventLoop, pool: Any, renew: Callable[[], object]
    ) -> None:
        super().__init__(engine, loop, pool)
        self._renew = renew
        """Called when the server is a replica now. The next connections resolve the address again."""
        self._pending: deque[tuple[int, int]] = deque()
        """The commands without a reply, each with the time when its reply is overdue."""
        self._overdue_timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """See DriverConnection."""
        return not self._pending

    def call(self, command: Command) -> None:
        """Sends a script."""
        self.send(command, pack(command.arguments))

    def sent(self, command: Command) -> None:
        """See DriverConnection."""
        self._pending.append((command.id, now() + int(SILENT_AFTER * 1e6)))
        if self._overdue_timer is None:
            self._check_overdue()

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
        if is_from_replica(text) and not self.is_over:
            self._renew()

    def lost(self, error: BaseException | None) -> None:
        """See DriverConnection."""
        pending, self._pending = self._pending, deque()
        if self._overdue_timer is not None:
            self._overdue_timer.cancel()
            self._overdue_timer = None
        for id, _ in pending:
            self.engine.failed(id, "unknown", error)

    def _check_overdue(self, read: int | None = None) -> None:
        """Closes the connection if a reply is overdue: it may be dead, and the system would notice that only
        after a quarter of an hour. ``read``: the loop has read all replies that arrived before this time.
        """
        self._overdue_timer = None
        if not self._pending:
            return
        due, time = self._pending[0][1], now()
        if read is not None and due <= read:
            self.abort()
        elif due <= time:
            self._overdue_timer = self.later(TURN / 1e6, self._check_overdue, time)
        else:
            self._overdue_timer = self.later((due - time) / 1e6, self._check_overdue)


class SubscriptionConnection(DriverConnection):
    """The connection for channels."""

    how_to_read: ClassVar[dict[str, bool]] = {"push_request": True}

    def __init__(self, engine: EnginePort, loop: asyncio.AbstractEventLoop, pool: Any) -> None:
        super().__init__(engine, loop, pool)
        self._channels = Channels(engine)
        self._ping_timer: asyncio.TimerHandle | None = None

    def answered(self, value: Any) -> None:
        """See DriverConnection."""
        self._channels.answered(value)

    def refused(self, text: str, error: BaseException) -> None:
        """See DriverConnection."""
        self._channels.refused(text, error)

    def subscribe(self, command: Command) -> None:
        """Subscribes to a channel."""
        self._channels.opened()
        self.send(command, pack((b"SUBSCRIBE", command.arguments[0])))

    def unsubscribe(self, command: Command) -> None:
        """Unsubscribes from a channel."""
        channel = command.arguments[0]
        self._waiting = [each for each in self._waiting if each[0].arguments[0] != channel]
        if self._writer is not None:
            self._writer.write(pack((b"UNSUBSCRIBE", channel)))
        self._channels.unsubscribed(command)

    def sent(self, command: Command) -> None:
        """See DriverConnection."""
        self._channels.subscribed(command)
        if self._ping_timer is None:
            self._check_silence()

    def lost(self, error: BaseException | None) -> None:
        """See DriverConnection."""
        if self._ping_timer is not None:
            self._ping_timer.cancel()
            self._ping_timer = None
        self._channels.lost(error)

    def _check_silence(self, read: int | None = None) -> None:
        """Pings a silent server. Closes the connection if the server has not replied to the ping. ``read``:
        the loop has read all replies that arrived before this time.
        """
        self._ping_timer = None
        due, time = self._channels.due(), now()
        if due is None or self._writer is None:
            return
        if read is not None and due <= read:
            if self._channels.is_dead():
                self.abort()
                return
            self._writer.write(PING)
            self._ping_timer = self.later(ANSWER_WITHIN, self._check_silence)
        elif due <= time:
            self._ping_timer = self.later(TURN / 1e6, self._check_silence, time)
        else:
            self._ping_timer = self.later((due - time) / 1e6, self._check_silence)
