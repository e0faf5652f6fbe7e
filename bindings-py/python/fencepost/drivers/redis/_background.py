"""The background thread. It does what no thread waits for: renewals, retries, cleanup, subscriptions. It is a
daemon, and starts with the first command.

It sends all queued commands together, and waits for all its sockets at once. Only connecting blocks it.
"""

from __future__ import annotations

import select
import socket
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from redis.exceptions import TimeoutError as RedisTimeoutError

from ..._engine.engine import Engine
from ..._engine.reentrancy import serve
from ..._engine.threads import start
from ..._fencepost import Command, is_from_replica
from ...hub._clock import now
from ._channels import PING, Channels, silent
from ._common import ANSWER_WITHIN, SILENT_AFTER, answer, failure, pack

if TYPE_CHECKING:
    from ._driver import Connections

JOIN_WITHIN = 1.0
_NEXT_PACKET = 0.001
"""How long the thread waits for the rest of an answer before it does other work, in seconds."""


class Line:
    """A connection and its commands. It is made again after each loss. Only the background thread uses it."""

    def __init__(self, engine: Engine, connections: Connections) -> None:
        self.engine = engine
        self._connections = connections
        self._connection: Any = None

    def fileno(self) -> int | None:
        """The socket to wait for."""
        connection = self._connection
        if connection is None or connection._sock is None:
            return None
        return int(connection._sock.fileno())

    def send(self, commands: list[tuple[Command, bytes]], more: bytes = b"") -> bool:
        """Sends packed commands together, and ``more``. Gives False if that failed: the commands are settled
        then.
        """
        sent = False
        try:
            if self._connection is None:
                self._connection = self._connections.make(ANSWER_WITHIN)
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
                    self.engine.put(self.engine.hub.error_reply, command.id, text)
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
            except RedisTimeoutError:  # The rest has not come yet. The next read starts at this answer.
                return
            except Exception as error:
                text = answer(error)
                if text is None:
                    self.lose(error)
                else:
                    self.refused(text, error)
            else:
                self.answered(value)

    how_to_read: ClassVar[dict[str, bool]] = {}

    def answered(self, value: Any) -> None:
        """A reply or a push has come."""

    def refused(self, text: str, error: BaseException) -> None:
        """An error has come."""

    def renew(self) -> None:
        """Closes the connection if its server is a replica now."""
        if self._connection is not None and not self._connections.is_current(self._connection):
            self.lose(None)

    def lose(self, error: BaseException | None) -> None:
        """Closes the connection after its loss."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.disconnect()


class Calls(Line):
    """The connection for scripts. The server answers them in the order in which they were sent."""

    def __init__(self, engine: Engine, connections: Connections) -> None:
        super().__init__(engine, connections)
        self._pending: deque[tuple[int, int]] = deque()
        """The commands without an answer, each with the time when its answer is overdue."""

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
        """When the first answer is overdue."""
        return self._pending[0][1] if self._pending else None

    def answered(self, value: Any) -> None:
        """See Line."""
        if self._pending:
            self.engine.put(self.engine.hub.reply, self._pending.popleft()[0], value)

    def refused(self, text: str, error: BaseException) -> None:
        """See Line."""
        if self._pending:
            id = self._pending.popleft()[0]
            self.engine.note(id, error)
            self.engine.put(self.engine.hub.error_reply, id, text)
        if is_from_replica(text) and self._connection is not None:
            self._connections.renew(self._connection)

    def lose(self, error: BaseException | None) -> None:
        """See Line."""
        super().lose(error)
        pending, self._pending = self._pending, deque()
        for id, _ in pending:
            self.engine.failed(id, "unknown", error)


class Subscriptions(Line):
    """The connection for channels."""

    how_to_read: ClassVar[dict[str, bool]] = {"push_request": True}

    def __init__(self, engine: Engine, connections: Connections) -> None:
        super().__init__(engine, connections)
        self._channels = Channels(engine)

    def answered(self, value: Any) -> None:
        """See Line."""
        self._channels.answered(value)

    def refused(self, text: str, error: BaseException) -> None:
        """See Line."""
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

    def beat(self) -> None:
        """Pings a silent server. Closes the connection if the server has not answered the ping."""
        due = self.due()
        if due is None or due > now():
            return
        if self._channels.is_dead():
            self.lose(silent())
        else:
            self.send([], PING)

    def lose(self, error: BaseException | None) -> None:
        """See Line."""
        super().lose(error)
        self._channels.lost(error)


def readable(descriptors: list[int], timeout: float | None) -> list[int]:
    """Waits for at most so many seconds. Gives the descriptors that have something to read."""
    if not hasattr(select, "poll"):  # pragma: no cover
        return select.select(descriptors, [], [], timeout)[0]
    # Unlike select, poll takes descriptors above 1023.
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    millis = None if timeout is None else -int(-timeout * 1000 // 1)
    return [descriptor for descriptor, _ in poll.poll(millis)]


class Background:
    """The background thread and its queue."""

    def __init__(self, engine: Engine, connections: Connections) -> None:
        self._engine = engine
        self._calls = Calls(engine, connections)
        self._subscriptions = Subscriptions(engine, connections)
        self._queue: deque[Command] = deque()
        self._thread: threading.Thread | None = None
        self._alarm: socket.socket | None = None
        self._closed = False

    @property
    def runs(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def submit(self, command: Command) -> None:
        """Queues a command. Called inside the engine's critical section."""
        if self._closed:
            self._engine.failed(command.id, "closed", None)
            return
        self._queue.append(command)
        self.start()
        self._ring()

    def renew(self) -> None:
        """The address may lead to another server now. The thread closes connections to the old one."""
        self._ring()

    def start(self) -> None:
        """Starts the thread, if there is none. Called inside the engine's critical section."""
        if self._thread is not None or self._closed:
            return
        here, there = socket.socketpair()
        here.setblocking(False)
        there.setblocking(False)
        self._alarm = here
        self._thread = start("redis", self._run, there)
        if self._thread is None:
            self._alarm = None
            here.close()
            there.close()

    def close(self, within: float) -> None:
        """Ends the thread, and waits for that for a short time, unless it is the calling thread."""
        self._closed = True
        self._ring()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(min(JOIN_WITHIN, within))

    def _ring(self) -> None:
        alarm = self._alarm
        if alarm is not None:
            try:
                alarm.send(b"\0")
            except OSError:  # The socket is full, so the thread is awake; or the thread has ended.
                pass

    def _run(self, alarm: socket.socket) -> None:
        serve()
        runs = True
        try:
            while runs and not self._closed:
                try:
                    self._take_queue()
                    runs = self._wait(alarm)
                except Exception as error:
                    # Only programming errors come here.
                    self._engine.fail(error)
                    self._calls.lose(error)
                    self._subscriptions.lose(error)
        finally:
            alarm.close()
            if runs:
                self._calls.lose(None)
                self._subscriptions.lose(None)
                ringing, self._alarm = self._alarm, None
                if ringing is not None:
                    ringing.close()

    def _take_queue(self) -> None:
        calls = []
        while self._queue:
            command = self._queue.popleft()
            if command.operation == "call":
                calls.append(command)
            elif command.operation == "subscribe":
                self._subscriptions.subscribe(command)
            else:
                self._subscriptions.unsubscribe(command)
        if calls:
            self._calls.call(calls)

    def _wait(self, alarm: socket.socket) -> bool:
        """Waits for work. Gives False if the start of this thread was interrupted: another one has been
        started.
        """
        if self._queue or self._closed:
            return True
        lines: dict[int, Line] = {}
        for each in (self._calls, self._subscriptions):
            descriptor = each.fileno()
            if descriptor is not None:
                lines[descriptor] = each
        soonest = [due for due in (self._calls.overdue(), self._subscriptions.due()) if due is not None]
        timeout = max(0.0, (min(soonest) - now()) / 1e6) if soonest else None
        for descriptor in readable([alarm.fileno(), *lines], timeout):
            line = lines.get(descriptor)
            if line is not None:
                line.read()
            else:
                try:
                    if not alarm.recv(4096):
                        return False
                except BlockingIOError:
                    pass
        overdue = self._calls.overdue()
        if overdue is not None and overdue <= now():
            self._calls.lose(TimeoutError("no answer in time"))
        self._subscriptions.beat()
        self._calls.renew()
        self._subscriptions.renew()
        return True
