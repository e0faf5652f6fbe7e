"""The hooks of fencepost in a KazooClient. All drivers on a client share them. The last driver that is closed
removes them.

The hooks are needed because of kazoo's limits:

- It does not report the negotiated session timeout. The hooks read it from the connection's own calls.
- It blocks a caller whose request finds the queue full, and it queues calls while the connection is lost. The
  hooks have their own queue (``_send_queue.py``).
- It delivers watches and replies on different threads. The hooks have their own table of watches
  (``_watches.py``).
- It does not report every end of its connection's thread. It reports none before the first connection. If a
  listener raises an exception such as ``SystemExit``, kazoo does not call the later listeners. ``start()``
  returns before kazoo calls any of them. So the hooks get the states from the methods in which kazoo sets
  them.
- It treats the server's reply to ``add_auth`` as the reply to the oldest request, although ZooKeeper sends it
  before the replies to earlier requests. The hooks move the entry of ``add_auth`` to the front.

``check_client`` rejects a client that lacks the parts that the hooks need, and a client with another handler.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any, Protocol

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ZookeeperError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import AUTH_XID
from kazoo.protocol.serialization import Connect, Watch
from kazoo.protocol.states import KazooState, KeeperState

from ..._engine.reentrancy import serve
from ..._engine.wording import unreadable
from ._send_queue import SendQueue
from ._watches import DELETED, Watches

# Kazoo looks an error code up without a check, so an unknown code would end its connection thread.
for _code in range(-128, -99):
    if _code not in EXCEPTIONS:
        EXCEPTIONS[_code] = type(f"ZookeeperError{-_code}", (ZookeeperError,), {"code": _code})

_HOOKS = "_fencepost_hooks"
"""The attribute of a client that has its hooks."""

_HOOKED_IN_CLIENT = ("_make_state_change", "_session_callback")
_NEEDED_OF_CLIENT = (
    *_HOOKED_IN_CLIENT,
    "_connection",
    "_notify_pending",
    "_pending",
    "_session_id",
    "_stopped",
    "chroot",
    "state",
)
_HOOKED_IN_CONNECTION = (
    "_connect",
    "_expand_client_hosts",
    "_invoke",
    "_read_header",
    "_read_watch_event",
    "_send_ping",
    "_send_request",
    "start",
)
_NEEDED_OF_CONNECTION = (*_HOOKED_IN_CONNECTION, "_connection_routine", "_submit", "_write_sock", "_xid")
_CONNECTED = (KeeperState.CONNECTED, KeeperState.CONNECTED_RO)
_FOR_GOOD = {KeeperState.CLOSED: "closed", KeeperState.AUTH_FAILED: "auth-failed"}
"""The states that are final, unless the program starts the client again."""


class Listener(Protocol):
    """The part of a driver that the hooks use. The connection's thread calls these methods, except for
    :meth:`starting`.
    """

    def starting(self) -> None:
        """The program starts the client. Its thread calls this."""

    def turn(self) -> None:
        """Called before each write to the server, also before a ping: at least once in a third of the session
        timeout.
        """

    def connect_failed(self, error: BaseException) -> None:
        """An attempt to connect has failed."""

    def connecting(self) -> None:
        """Kazoo is about to request a new session."""

    def connected(self, session: int, timeout_ms: int) -> None:
        """The client is connected, in a new session or in the same one."""

    def disconnected(self, state: str) -> None:
        """The connection was lost. ``state``: ``suspended``, ``expired``, ``auth-failed`` or ``closed``."""


def check_client(client: Any) -> None:
    """Raises ConfigError for a client that lacks what the hooks need."""
    connection: Any = getattr(client, "_connection", None)
    lacks = [name for name in _NEEDED_OF_CLIENT if not hasattr(client, name)]
    lacks += [name for name in _NEEDED_OF_CONNECTION if not hasattr(connection, name)]
    if lacks or not isinstance(client.handler, SequentialThreadingHandler):
        what = (
            f"it has no {', '.join(lacks)}" if lacks else f"its handler is a {type(client.handler).__name__}"
        )
        needed = "Use kazoo's own KazooClient and its SequentialThreadingHandler"
        raise unreadable(f"fencepost cannot use this KazooClient: {what}. {needed}")


class Hooks:
    """The hooks in one KazooClient."""

    _installing = threading.Lock()

    def __init__(self, client: Any) -> None:
        self.client = client
        self.epoch = 0
        """The number of lost connections. A request is sent only on the connection for which it was made."""
        self.send_queue = SendQueue(client)
        self.watches = Watches()
        self._timeout_ms: int | None = None
        self._last_xid = 0
        """The number of the last request on the previous connection."""
        self._last_state = ""
        """The last state that the listeners got."""
        self.is_arriving = False
        """Whether the listeners know of a connection that kazoo does not report yet."""
        self._is_started = False
        """Whether the program has started the client, and the client has not ended since."""
        self._listeners: list[Listener] = []

    @classmethod
    def attach(cls, client: Any, listener: Listener) -> Hooks:
        """Adds a listener to the hooks of a client. Installs them if there are none."""
        with cls._installing:
            hooks: Hooks | None = getattr(client, _HOOKS, None)
            if hooks is None:
                hooks = cls(client)
                hooks._install()
                setattr(client, _HOOKS, hooks)
            hooks._listeners = [*hooks._listeners, listener]
        if _is_kazoos(threading.current_thread(), client._connection):
            serve()  # The program makes the client in a listener.
        return hooks

    def detach(self, listener: Listener) -> None:
        """Removes a listener. With the last one, removes the hooks."""
        with self._installing:
            self._listeners = [each for each in self._listeners if each is not listener]
            if not self._listeners and getattr(self.client, _HOOKS, None) is self:
                delattr(self.client, _HOOKS)
                self._remove()

    def _install(self) -> None:
        client = self.client
        connection: Any = client._connection
        connect: Callable[..., Any] = connection._connect
        expand: Callable[..., Any] = connection._expand_client_hosts
        invoke: Callable[..., Any] = connection._invoke
        send_request: Callable[..., Any] = connection._send_request
        read_header: Callable[..., Any] = connection._read_header
        read_watch_event: Callable[..., Any] = connection._read_watch_event
        send_ping: Callable[..., Any] = connection._send_ping
        start: Callable[..., Any] = connection.start
        make_state_change: Callable[..., Any] = client._make_state_change
        session_callback: Callable[..., Any] = client._session_callback

        def connect_and_report(host: str, address: str, port: int) -> Any:
            try:
                return connect(host, address, port)
            except Exception as error:
                # The socket's exception has more details than kazoo's own.
                self._report_connect_failure(
                    error.__context__ if isinstance(error.__context__, OSError) else error
                )
                raise

        def expand_and_report() -> Any:
            try:
                found = expand()
            except Exception as error:
                self._report_connect_failure(error)
                raise
            if not found:
                self._report_connect_failure(_unresolved(client.hosts))
            return found

        def invoke_and_learn(timeout: float, request: Any, xid: Any = None) -> Any:
            if isinstance(request, Connect) and not request.session_id:
                self._last_state = ""
                for listener in self._listeners:
                    listener.connecting()
            if isinstance(request, Connect):
                # Kazoo would begin at 1 again. If the session has moved to another server, kazoo could then
                # take a reply to an earlier request for the reply to a new request of the same number.
                connection._xid = self._last_xid
            result = invoke(timeout, request, xid)
            if isinstance(request, Connect):
                self._timeout_ms = result[0].time_out
            return result

        def start_and_report() -> None:
            self._is_started, self._last_state = True, ""
            for listener in self._listeners:
                listener.starting()
            try:
                start()
            except BaseException:
                self._listen(KazooState.LOST)
                raise

        def send_ping_in_turn(connect_timeout: float) -> None:
            self._turn()
            send_ping(connect_timeout)

        def send_request_and_ours(read_timeout: float, connect_timeout: float) -> Any:
            self._turn()
            # If the client was connected before: the read timeout is two thirds of the session timeout.
            if self._timeout_ms is None:
                self._timeout_ms = round(read_timeout * 1500)
            self.send_queue.flush(connect_timeout)
            # Kazoo reads one byte of the pair here. It does not matter which side wrote that byte.
            return send_request(read_timeout, connect_timeout)

        def read_header_and_order(timeout: float) -> Any:
            answer = read_header(timeout)
            if answer[0].xid == AUTH_XID:
                pending = client._pending
                place = next((place for place, entry in enumerate(pending) if entry[2] == AUTH_XID), 0)
                if place:
                    entry = pending[place]
                    del pending[place]
                    pending.appendleft(entry)
            return answer

        def read_watch_event_and_report(packet: Any, offset: int) -> None:
            event, _ = Watch.deserialize(packet, offset)
            read_watch_event(packet, offset)
            if client._stopped.is_set():
                return  # Kazoo is closing the session, and the server deletes its nodes.
            for watch in self.watches.fired(event.type, event.path):
                watch.notify("deleted" if event.type == DELETED else "changed")

        def make_state_change_and_report(state: str) -> None:
            if state != KazooState.CONNECTED and state != client.state:
                self._listen(state)
            make_state_change(state)

        def session_callback_and_report(state: Any) -> None:
            serve()  # Kazoo calls the program's listeners on this thread.
            try:
                if state in _CONNECTED and client.state != KazooState.CONNECTED:
                    # `start()` returns as soon as kazoo enters this state.
                    self.is_arriving = True
                    self._listen(KazooState.CONNECTED)
                session_callback(state)
            except BaseException:
                # A listener of the program has ended the connection's thread. Kazoo would do this next.
                client._notify_pending(state)
                raise
            finally:
                self.is_arriving = False
                if state in _FOR_GOOD and self._last_state not in _FOR_GOOD.values():
                    self._listen(KazooState.LOST)

        connection._connect = connect_and_report
        connection._expand_client_hosts = expand_and_report
        connection._invoke = invoke_and_learn
        connection._read_header = read_header_and_order
        connection._read_watch_event = read_watch_event_and_report
        connection._send_ping = send_ping_in_turn
        connection._send_request = send_request_and_ours
        connection.start = start_and_report
        client._make_state_change = make_state_change_and_report
        client._session_callback = session_callback_and_report

    def _remove(self) -> None:
        client = self.client
        for name in _HOOKED_IN_CONNECTION:
            client._connection.__dict__.pop(name, None)
        for name in _HOOKED_IN_CLIENT:
            client.__dict__.pop(name, None)
        self.send_queue.drop()
        self.watches.clear()

    def is_starting(self) -> bool:
        """Whether a client in the state "closed" was started, and its thread is connecting."""
        thread = self.client._connection._connection_routine
        is_started = self._is_started or (thread is not None and thread.is_alive())
        return is_started and not self.client._stopped.is_set()

    def timeout_ms(self) -> int:
        """The negotiated session timeout, in milliseconds. It is known after the first request."""
        return self._timeout_ms or int(self.client._session_timeout)

    def _turn(self) -> None:
        serve()
        for listener in self._listeners:
            listener.turn()

    def _report_connect_failure(self, error: BaseException | None) -> None:
        if error is not None:
            for listener in self._listeners:
                listener.connect_failed(error)

    def _listen(self, state: str) -> None:
        client = self.client
        if state == KazooState.CONNECTED:
            self._last_state = "connected"
            session, timeout = client._session_id, self.timeout_ms()
            for listener in self._listeners:
                listener.connected(session, timeout)
            return
        self.epoch += 1
        self._last_xid = client._connection._xid or 0
        if state == KazooState.SUSPENDED:
            self._last_state = "suspended"
        elif client.client_state == KeeperState.EXPIRED_SESSION:
            self._last_state = "expired"
        else:
            self._last_state = _FOR_GOOD.get(client.client_state, "closed")
            self._is_started = False
        self.send_queue.drop()
        for listener in self._listeners:
            listener.disconnected(self._last_state)
        for watch in self.watches.clear():
            watch.notify("gone")


def _unresolved(hosts: Any) -> OSError | None:
    """The error of the first host whose name cannot be resolved."""
    for host, port in hosts:
        try:
            socket.getaddrinfo(host.strip(), port, 0, 0, socket.IPPROTO_TCP)
        except OSError as error:
            return error
    return None


def _is_kazoos(thread: threading.Thread, connection: Any) -> bool:
    """Whether a thread is the connection's own. Kazoo stores this thread a little after its start, when its
    first listener may already run.
    """
    started_with = getattr(thread, "_target", None)
    return thread is connection._connection_routine or started_with == connection.zk_loop


__all__ = ["Hooks", "KazooClient", "Listener", "check_client"]
