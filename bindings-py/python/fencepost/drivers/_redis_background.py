"""What no thread waits for: renewals, retries, clean-up, subscriptions. One daemon thread, started when there
is first something to do.

It sends what has come together in one go, and waits for all its sockets at once. Nothing but connecting
blocks it.
"""

from __future__ import annotations

import select
import socket
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from redis.exceptions import TimeoutError as RedisTimeoutError

from .._clock import now
from .._engine import Engine
from .._fencepost import Command, is_from_replica
from .._threads import start
from .._waiting import serve
from ._redis_channels import PING, Channels, silent
from ._redis_common import ANSWER_WITHIN, answer, failure, pack

if TYPE_CHECKING:
    from .redis import Connections

JOIN_WITHIN = 1.0
_NEXT_PACKET = 0.001
"""For how many seconds the rest of an answer is waited for before the thread looks at what else there is."""


class Line:
    """A connection and what it is asked to do; made anew after every loss. Used by the background's thread
    alone.
    """

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
        """Sends packed commands together, and perhaps what nobody has asked for; False: they have been
        settled, for they could not be sent for certain.
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
        """Takes in everything that has arrived."""
        while self._connection is not None and self._connection._sock is not None:
            try:
                if not self._connection.can_read(timeout=0):
                    return
                self._connection._sock.settimeout(_NEXT_PACKET)
                value = self._connection.read_response(
                    disable_decoding=True, disconnect_on_error=False, **self.how_to_read
                )
            except RedisTimeoutError:  # The rest is still on its way: redis-py begins again with it.
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
        """Gives the connection up if its server is a replica now."""
        if self._connection is not None and not self._connections.is_current(self._connection):
            self.lose(None)

    def lose(self, error: BaseException | None) -> None:
        """The connection is gone."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.disconnect()


class Calls(Line):
    """Scripts, answered in the order in which they were sent."""

    def __init__(self, engine: Engine, connections: Connections) -> None:
        super().__init__(engine, connections)
        self._pending: deque[tuple[int, int]] = deque()

    def call(self, commands: list[Command]) -> None:
        """Sends what is not overdue."""
        time = now()
        latest = time + int(ANSWER_WITHIN * 1e6)
        timely = []
        for command in commands:
            if command.deadline is not None and command.deadline <= time:
                self.engine.failed(command.id, "not-sent", None)
            else:
                timely.append((command, pack(command.arguments)))
        if timely and self.send(timely):
            self._pending.extend(
                (command.id, min(command.deadline or latest, latest)) for command, _ in timely
            )

    def overdue(self) -> int | None:
        """When the first answer is overdue."""
        return min((deadline for _, deadline in self._pending), default=None)

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
    """Channels."""

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
        """Asks for a channel."""
        self._channels.opened()
        if self.send([(command, pack((b"SUBSCRIBE", command.arguments[0])))]):
            self._channels.subscribed(command)

    def unsubscribe(self, command: Command) -> None:
        """Gives a channel back."""
        if self._connection is not None:
            self.send([(command, pack((b"UNSUBSCRIBE", command.arguments[0])))])
        self._channels.unsubscribed(command)

    def due(self) -> int | None:
        """When there is something to do about the connection's silence."""
        return None if self._connection is None else self._channels.due()

    def beat(self) -> None:
        """Asks a silent server for a word; gives the connection up when it has not said one."""
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
    """Those of the descriptors that have something to read, within so many seconds."""
    if not hasattr(select, "poll"):  # pragma: no cover
        return select.select(descriptors, [], [], timeout)[0]
    # Unlike select, it takes descriptors of any size.
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    millis = None if timeout is None else -int(-timeout * 1000 // 1)
    return [descriptor for descriptor, _ in poll.poll(millis)]


class Background:
    """The thread."""

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
        """Whether its thread was started."""
        return self._thread is not None

    def submit(self, command: Command) -> None:
        """Hands a command over. Called inside the engine's critical section."""
        if self._closed:
            self._engine.failed(command.id, "closed", None)
            return
        self._queue.append(command)
        self.start()
        self._ring()

    def renew(self) -> None:
        """Some connections may be of no use any more."""
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
        """Ends the thread; waits for it for a moment, unless it is the one that asks."""
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
            except OSError:  # It is full, so the thread will wake up; or the thread has ended.
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
                    # Nothing but faults of the code comes here.
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
        """Waits for something to do. False: this thread was started by one that was interrupted."""
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
