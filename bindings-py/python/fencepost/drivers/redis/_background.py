"""The background thread. It does the work for which no thread waits: renewals, retries, cleanup,
subscriptions. It is a daemon, and starts with the first command.

It sends all queued commands together, and waits for all its sockets at once. Only connecting blocks it.
"""

from __future__ import annotations

import select
import socket
import threading
from collections import deque

from ..._engine.driver import EnginePort
from ..._engine.faults import EXHAUSTED
from ..._engine.reentrancy import serve
from ..._engine.threads import NoThread, join, start
from ..._fencepost import Command
from ...hub._clock import now
from ._background_connections import DriverConnection, ScriptConnection, SubscriptionConnection
from ._connection_pool import ConnectionPool

JOIN_WITHIN = 1.0


def readable(descriptors: list[int], timeout: float | None) -> list[int]:
    """Waits for at most ``timeout`` seconds. Returns the descriptors that have data to read."""
    if not hasattr(select, "poll"):  # pragma: no cover
        return select.select(descriptors, [], [], timeout)[0]
    # Unlike select, poll supports descriptors above 1023.
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    millis = None if timeout is None else -int(-timeout * 1000 // 1)
    return [descriptor for descriptor, _ in poll.poll(millis)]


class Background:
    """The background thread and its queue."""

    def __init__(self, engine: EnginePort, pool: ConnectionPool) -> None:
        self._engine = engine
        self._scripts = ScriptConnection(engine, pool)
        self._subscriptions = SubscriptionConnection(engine, pool)
        self._queue: deque[Command] = deque()
        self._thread: threading.Thread | None = None
        self._wake_socket: socket.socket | None = None
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
        try:
            self.start()
        except NoThread as error:
            self._engine.failed(command.id, "not-sent", error)
            return
        self._queue.append(command)
        self._wake()

    def renew(self) -> None:
        """Called when the address may have a new server. The thread closes connections to the old one."""
        self._wake()

    def start(self) -> None:
        """Starts the thread, if there is none. Raises NoThread. Called inside the engine's critical
        section.
        """
        if self._thread is not None or self._closed:
            return
        here, there = socket.socketpair()
        here.setblocking(False)
        there.setblocking(False)
        self._wake_socket = here
        try:
            self._thread = start("redis", self._run, there)
        except NoThread:
            self._wake_socket = None
            here.close()
            there.close()
            raise

    def close(self, within: float) -> None:
        """Ends the thread, and waits for that for a short time, unless it is the calling thread."""
        self._closed = True
        self._wake()
        join(self._thread, min(JOIN_WITHIN, within))

    def _wake(self) -> None:
        wake_socket = self._wake_socket
        if wake_socket is not None:
            try:
                wake_socket.send(b"\0")
            except OSError:  # The socket is full, so the thread is awake; or the thread has ended.
                pass

    def _run(self, wake_socket: socket.socket) -> None:
        serve()
        runs = True
        try:
            while runs and not self._closed:
                try:
                    self._take_queue()
                    runs = self._wait(wake_socket)
                except Exception as error:
                    # Only programming errors reach this line, unless the memory is used up.
                    if not isinstance(error, EXHAUSTED):
                        self._engine.fail(error)
                    self._scripts.lose(error)
                    self._subscriptions.lose(error)
        finally:
            wake_socket.close()
            if runs:
                self._scripts.lose(None)
                self._subscriptions.lose(None)
                waking, self._wake_socket = self._wake_socket, None
                if waking is not None:
                    waking.close()

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
            self._scripts.call(calls)

    def _wait(self, wake_socket: socket.socket) -> bool:
        """Waits for work. Returns False if the start of this thread was interrupted and another one was
        started.
        """
        if self._queue or self._closed:
            return True
        connections: dict[int, DriverConnection] = {}
        for each in (self._scripts, self._subscriptions):
            descriptor = each.fileno()
            if descriptor is not None:
                connections[descriptor] = each
        soonest = [due for due in (self._scripts.overdue(), self._subscriptions.due()) if due is not None]
        timeout = max(0.0, (min(soonest) - now()) / 1e6) if soonest else None
        for descriptor in readable([wake_socket.fileno(), *connections], timeout):
            connection = connections.get(descriptor)
            if connection is not None:
                connection.read()
            else:
                try:
                    if not wake_socket.recv(4096):
                        return False
                except BlockingIOError:
                    pass
        overdue = self._scripts.overdue()
        if overdue is not None and overdue <= now():
            self._scripts.lose(TimeoutError("no answer in time"))
        self._subscriptions.ping_if_silent()
        self._scripts.renew()
        self._subscriptions.renew()
        return True
