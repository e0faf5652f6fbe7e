"""What fencepost hangs into a KazooClient: one tap a client, shared by all drivers on it, gone with the last.

Kazoo does not tell the negotiated session timeout, delivers watches on another thread than replies, and
queues what is called while the connection is lost. So the tap listens to the state, reads the timeout off the
connection's own calls, and has our watches called on the connection's thread, in the order of the wire. Nor
does kazoo tell every end of its connection's thread: not one before it was ever connected, and none to those
who listen behind a listener that has raised what is no Exception (``SystemExit``). So the tap sees the states
where they are made. Where kazoo does not have the parts for it (another version), it refuses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ZookeeperError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import Connect
from kazoo.protocol.states import KazooState, KeeperState

from .._values import unreadable

# A code that kazoo does not know ends its connection thread: it looks it up without care.
for _code in range(-128, -99):
    if _code not in EXCEPTIONS:
        EXCEPTIONS[_code] = type(f"ZookeeperError{-_code}", (ZookeeperError,), {"code": _code})

_TAP = "_fencepost_tap"
"""Where a client has its tap: they go together."""

_NEEDED_OF_CLIENT = (
    "_call",
    "_connection",
    "_notify_pending",
    "_queue",
    "_session_callback",
    "_session_id",
    "_data_watchers",
    "_child_watchers",
    "_stopped",
    "add_listener",
    "chroot",
)
_NEEDED_OF_CONNECTION = ("_invoke", "_send_request")
_FOR_GOOD = {KeeperState.CLOSED: "closed", KeeperState.AUTH_FAILED: "auth-failed"}
"""States that no connection comes after, unless the client is started again."""


class Listener(Protocol):
    """A driver, as the tap sees it. Called on the connection's thread."""

    def connecting(self) -> None:
        """A new session is about to be asked for."""

    def connected(self, session: int, timeout_ms: int) -> None:
        """A session, new or the same again."""

    def disconnected(self, state: str) -> None:
        """``suspended``, ``expired``, ``auth-failed`` or ``closed``."""


class InlineWatch:
    """A watcher that may be called on the connection's thread: it neither blocks nor raises."""

    __slots__ = ()

    def __call__(self, event: Any) -> None:
        """The watch has fired, or was dropped."""


class Tap:
    """What is hung into one KazooClient."""

    _tapping = threading.Lock()

    def __init__(self, client: Any) -> None:
        self.client = client
        self.epoch = 0
        """Grows whenever the connection is lost: what was handed over before is not sent after."""
        self._timeout_ms: int | None = None
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
        invoke: Callable[..., Any] = connection._invoke
        send_request: Callable[..., Any] = connection._send_request
        dispatch: Callable[..., Any] = client.handler.dispatch_callback
        session_callback: Callable[..., Any] = client._session_callback

        def invoke_and_learn(timeout: float, request: Any, xid: Any = None) -> Any:
            if isinstance(request, Connect) and not request.session_id:
                self._told = ""
                for listener in self._listeners:
                    listener.connecting()
            result = invoke(timeout, request, xid)
            if isinstance(request, Connect):
                self._timeout_ms = result[0].time_out
            return result

        def send_request_and_learn(read_timeout: float, connect_timeout: float) -> Any:
            # For a client that was connected before we came: this is two thirds of the negotiated timeout.
            if self._timeout_ms is None:
                self._timeout_ms = round(read_timeout * 1500)
            connection.__dict__.pop("_send_request", None)
            return send_request(read_timeout, connect_timeout)

        def dispatch_in_order(callback: Any) -> None:
            if isinstance(callback.func, InlineWatch):
                callback.func(*callback.args)
            else:
                dispatch(callback)

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

        connection._invoke = invoke_and_learn
        connection._send_request = send_request_and_learn
        client.handler.dispatch_callback = dispatch_in_order
        client._session_callback = session_callback_and_tell
        client.add_listener(self._listen)

    def _remove(self) -> None:
        client = self.client
        client.remove_listener(self._listen)
        for name in _NEEDED_OF_CONNECTION:
            client._connection.__dict__.pop(name, None)
        client.handler.__dict__.pop("dispatch_callback", None)
        client.__dict__.pop("_session_callback", None)

    def timeout_ms(self) -> int:
        """The negotiated session timeout, once anything was sent on the connection."""
        return self._timeout_ms or int(self.client._session_timeout)

    def _listen(self, state: str) -> None:
        client = self.client
        if state == KazooState.CONNECTED:
            self._told = "connected"
            session, timeout = client._session_id, self.timeout_ms()
            for listener in self._listeners:
                listener.connected(session, timeout)
            return
        self.epoch += 1
        if state == KazooState.SUSPENDED:
            self._told = "suspended"
        elif client.client_state == KeeperState.EXPIRED_SESSION:
            self._told = "expired"
        else:
            self._told = _FOR_GOOD.get(client.client_state, "closed")
        for listener in self._listeners:
            listener.disconnected(self._told)


__all__ = ["InlineWatch", "KazooClient", "Listener", "Tap"]
