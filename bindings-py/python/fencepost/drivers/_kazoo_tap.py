"""What fencepost hangs into a KazooClient: one tap a client, shared by all drivers on it, gone with the last.

Kazoo does not tell the negotiated session timeout, waits for room when a request is handed over, delivers
watches on another thread than replies, and queues what is called while the connection is lost. So the tap
listens to the state, reads the timeout off the connection's own calls, and has a queue and a table of watches
of its own. Nor does kazoo tell every end of its connection's thread: not one before it was ever connected,
and none to those who listen behind a listener that has raised what is no Exception (``SystemExit``). So the
tap sees the states where they are made. Where kazoo does not have the parts for it (another version), it
refuses.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any, Protocol

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ZookeeperError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import Connect, Watch
from kazoo.protocol.states import KazooState, KeeperState

from .._values import unreadable
from .._waiting import serve
from ._kazoo_outbox import Outbox
from ._kazoo_watches import DELETED, Watches

# A code that kazoo does not know ends its connection thread: it looks it up without care.
for _code in range(-128, -99):
    if _code not in EXCEPTIONS:
        EXCEPTIONS[_code] = type(f"ZookeeperError{-_code}", (ZookeeperError,), {"code": _code})

_TAP = "_fencepost_tap"
"""Where a client has its tap: they go together."""

_NEEDED_OF_CLIENT = (
    "_connection",
    "_notify_pending",
    "_pending",
    "_session_callback",
    "_session_id",
    "_stopped",
    "add_listener",
    "chroot",
)
_HUNG_INTO_CONNECTION = (
    "_connect",
    "_expand_client_hosts",
    "_invoke",
    "_read_watch_event",
    "_send_request",
)
_NEEDED_OF_CONNECTION = (*_HUNG_INTO_CONNECTION, "_connection_routine", "_submit", "_write_sock", "_xid")
_FOR_GOOD = {KeeperState.CLOSED: "closed", KeeperState.AUTH_FAILED: "auth-failed"}
"""States that no connection comes after, unless the client is started again."""


class Listener(Protocol):
    """A driver, as the tap sees it. Called on the connection's thread."""

    def troubled(self, error: BaseException) -> None:
        """An attempt to connect has failed."""

    def connecting(self) -> None:
        """A new session is about to be asked for."""

    def connected(self, session: int, timeout_ms: int) -> None:
        """A session, new or the same again."""

    def disconnected(self, state: str) -> None:
        """``suspended``, ``expired``, ``auth-failed`` or ``closed``."""


class Tap:
    """What is hung into one KazooClient."""

    _tapping = threading.Lock()

    def __init__(self, client: Any) -> None:
        self.client = client
        self.epoch = 0
        """Grows whenever the connection is lost: what was handed over before is not sent after."""
        self.outbox = Outbox(client)
        self.watches = Watches()
        self._timeout_ms: int | None = None
        self._last_xid = 0
        """The number of the last request on the connection before."""
        self._told = ""
        """What the listeners were last told."""
        self._listeners: list[Listener] = []

    @classmethod
    def attach(cls, client: Any, listener: Listener) -> Tap:
        """The tap of a client, with one more listener."""
        with cls._tapping:
            tap: Tap | None = getattr(client, _TAP, None)
            if tap is None:
                tap = cls(client)
                tap._install()
                setattr(client, _TAP, tap)
            tap._listeners = [*tap._listeners, listener]
            return tap

    def detach(self, listener: Listener) -> None:
        """Takes a listener off; the last one takes everything off."""
        with self._tapping:
            self._listeners = [each for each in self._listeners if each is not listener]
            if not self._listeners and getattr(self.client, _TAP, None) is self:
                delattr(self.client, _TAP)
                self._remove()

    def _install(self) -> None:
        client = self.client
        connection: Any = getattr(client, "_connection", None)
        lacks = [name for name in _NEEDED_OF_CLIENT if not hasattr(client, name)]
        lacks += [name for name in _NEEDED_OF_CONNECTION if not hasattr(connection, name)]
        if lacks or not isinstance(client.handler, SequentialThreadingHandler):
            what = (
                f"it has no {', '.join(lacks)}"
                if lacks
                else f"its handler is a {type(client.handler).__name__}"
            )
            needed = "Fencepost needs kazoo 2.11 with the threading handler"
            raise unreadable(f"this KazooClient cannot be used: {what}. {needed}")
        connect: Callable[..., Any] = connection._connect
        expand: Callable[..., Any] = connection._expand_client_hosts
        invoke: Callable[..., Any] = connection._invoke
        send_request: Callable[..., Any] = connection._send_request
        read_watch_event: Callable[..., Any] = connection._read_watch_event
        session_callback: Callable[..., Any] = client._session_callback

        def connect_and_tell(host: str, address: str, port: int) -> Any:
            try:
                return connect(host, address, port)
            except Exception as error:
                # Kazoo's own exception says it in fewer words.
                self._trouble(error.__context__ if isinstance(error.__context__, OSError) else error)
                raise

        def expand_and_tell() -> Any:
            try:
                found = expand()
            except Exception as error:
                self._trouble(error)
                raise
            if not found:
                self._trouble(_unresolved(client.hosts))
            return found

        def invoke_and_learn(timeout: float, request: Any, xid: Any = None) -> Any:
            if isinstance(request, Connect) and not request.session_id:
                self._told = ""
                for listener in self._listeners:
                    listener.connecting()
            if isinstance(request, Connect):
                # Kazoo begins at 1 again. A session that has moved to another member can then be given the
                # answer to an earlier request for a new one of the same number.
                connection._xid = self._last_xid
            result = invoke(timeout, request, xid)
            if isinstance(request, Connect):
                self._timeout_ms = result[0].time_out
            return result

        def send_request_and_ours(read_timeout: float, connect_timeout: float) -> Any:
            serve()
            # For a client that was connected before we came: this is two thirds of the negotiated timeout.
            if self._timeout_ms is None:
                self._timeout_ms = round(read_timeout * 1500)
            self.outbox.flush(connect_timeout)
            # One byte was read, whoever wrote it: kazoo takes it out with its own request, or without one.
            return send_request(read_timeout, connect_timeout)

        def read_watch_event_and_tell(packet: Any, offset: int) -> None:
            event, _ = Watch.deserialize(packet, offset)
            read_watch_event(packet, offset)
            if client._stopped.is_set():
                return  # The session is being closed, and what it held is deleted with it.
            for watch in self.watches.fired(event.type, event.path):
                watch.told("deleted" if event.type == DELETED else "changed")

        def session_callback_and_tell(state: Any) -> None:
            try:
                session_callback(state)
            except BaseException:
                # Somebody else's listener ends the connection's thread: what kazoo would do next is left out.
                client._notify_pending(state)
                raise
            finally:
                if state in _FOR_GOOD and self._told not in _FOR_GOOD.values():
                    self._listen(KazooState.LOST)

        connection._connect = connect_and_tell
        connection._expand_client_hosts = expand_and_tell
        connection._invoke = invoke_and_learn
        connection._send_request = send_request_and_ours
        connection._read_watch_event = read_watch_event_and_tell
        client._session_callback = session_callback_and_tell
        client.add_listener(self._listen)

    def _remove(self) -> None:
        client = self.client
        client.remove_listener(self._listen)
        for name in _HUNG_INTO_CONNECTION:
            client._connection.__dict__.pop(name, None)
        client.__dict__.pop("_session_callback", None)
        self.outbox.drop()
        self.watches.clear()

    def is_starting(self) -> bool:
        """Whether a client that counts as closed has been started, and its thread looks for a server."""
        thread = self.client._connection._connection_routine
        return thread is not None and thread.is_alive() and not self.client._stopped.is_set()

    def timeout_ms(self) -> int:
        """The negotiated session timeout, once anything was sent on the connection."""
        return self._timeout_ms or int(self.client._session_timeout)

    def _trouble(self, error: BaseException | None) -> None:
        if error is not None:
            for listener in self._listeners:
                listener.troubled(error)

    def _listen(self, state: str) -> None:
        client = self.client
        if state == KazooState.CONNECTED:
            self._told = "connected"
            session, timeout = client._session_id, self.timeout_ms()
            for listener in self._listeners:
                listener.connected(session, timeout)
            return
        self.epoch += 1
        self._last_xid = client._connection._xid or 0
        if state == KazooState.SUSPENDED:
            self._told = "suspended"
        elif client.client_state == KeeperState.EXPIRED_SESSION:
            self._told = "expired"
        else:
            self._told = _FOR_GOOD.get(client.client_state, "closed")
        self.outbox.drop()
        for listener in self._listeners:
            listener.disconnected(self._told)
        for watch in self.watches.clear():
            watch.told("gone")


def _unresolved(hosts: Any) -> OSError | None:
    """Why none of the hosts has an address."""
    for host, port in hosts:
        try:
            socket.getaddrinfo(host.strip(), port, 0, 0, socket.IPPROTO_TCP)
        except OSError as error:
            return error
    return None


__all__ = ["KazooClient", "Listener", "Tap"]
