"""The driver for kazoo.

A :class:`Request` is kazoo's request and kazoo's asynchronous result in one object. Kazoo's connection thread
gets the bytes from it when it writes them, and passes it the reply, in the order of the wire. So the driver
knows exactly which requests were sent. It reads the czxid from the reply's header. Only the waiting thread
has to be woken.
"""

from __future__ import annotations

from typing import Any

from kazoo.exceptions import (
    AuthFailedError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    SessionExpiredError,
)
from kazoo.protocol.states import KeeperState
from kazoo.security import OPEN_ACL_UNSAFE

from ..._engine.contender import Contender
from ..._engine.driver import EnginePort
from ..._engine.log import log
from ..._engine.threads import try_start
from ..._engine.wording import host_and_port
from ..._fencepost import Address, Command, Hub
from . import _wire as wire
from ._hooks import Hooks, check_client
from ._own_client import OwnClient

_EPHEMERAL_SEQUENTIAL, _CONTAINER, _WATCH, _EPHEMERAL = 1, 2, 4, 8
_EPHEMERALS = _EPHEMERAL_SEQUENTIAL | _EPHEMERAL
_KINDS = {
    _EPHEMERAL_SEQUENTIAL: (wire.CREATE, wire.EPHEMERAL_SEQUENTIAL),
    _CONTAINER: (wire.CREATE_CONTAINER, wire.CONTAINER),
    _EPHEMERAL: (wire.CREATE, wire.EPHEMERAL),
    0: (wire.CREATE, 0),
}
"""The opcode and flags that create each kind of node."""
_ENDED = (ConnectionClosedError, SessionExpiredError, AuthFailedError)


def failure(error: BaseException, sent: bool) -> str | int:
    """The outcome of a request that ended in one of kazoo's exceptions: ``not-sent``, ``unknown``,
    ``closed``, or the server's error code.
    """
    if isinstance(error, KazooException) and not isinstance(error, (ConnectionLoss, *_ENDED)):
        return int(getattr(error, "code", 0))
    if sent:
        return "unknown"
    return "closed" if isinstance(error, _ENDED) else "not-sent"


class Request:
    """One request and its result, as kazoo sees them. After its construction, only the connection's thread
    uses it.
    """

    __slots__ = (
        "_body",
        "_driver",
        "_epoch",
        "_id",
        "_key",
        "_makes",
        "_operation",
        "_watches",
        "path",
        "sent",
        "session",
        "settled",
        "type",
    )

    def __init__(self, driver: KazooDriver, command: Command) -> None:
        self._driver = driver
        self._id = command.id
        self._key = command.key
        self._makes = bool(command.flags & _EPHEMERALS)
        self._epoch = driver.hooks.epoch
        self._operation = command.operation
        self._watches = command.operation in ("get", "children") and bool(command.flags & _WATCH)
        self.type, self._body, self.path = driver.packet(command)
        self.session = 0
        self.sent = False
        self.settled = False

    @property
    def is_stale(self) -> bool:
        """Whether the connection for which it was made has ended."""
        return self._epoch != self._driver.hooks.epoch

    def serialize(self) -> bytes:
        """The request's bytes. Kazoo calls this when it writes the request."""
        self.sent = True
        self.session = self._driver.client._session_id or 0
        return self._body

    def deserialize(self, packet: bytes, offset: int) -> tuple[()]:
        """Handles the server's reply. Returns an empty value: kazoo iterates over it after a multi."""
        driver, hub, operation = self._driver, self._driver.hub, self._operation
        if self._watches:
            driver.hooks.watches.add(self)
        if operation == "create":
            path = driver.client.unchroot(wire.read_blob(packet, offset)[0].decode())
            if self._makes:
                driver.engine.node_created(self._key, path)
            self._settle(hub.created, path, wire.zxid(packet))
        elif operation == "children":
            self._settle(hub.children, wire.read_names(packet, offset))
        elif operation == "multi":
            answer = wire.read_multi(packet, offset)
            if isinstance(answer, int):
                self._settle(hub.error, answer)
            else:
                self._settle(hub.children, [path.rpartition("/")[2] for path in answer])
        elif operation == "get":
            self._settle(hub.data, *wire.read_node(packet, offset))
        else:
            self._settle(hub.done)
        return ()

    def set(self, value: object = None) -> None:
        """Kazoo calls this after :meth:`deserialize`, which has handled the reply."""

    def set_exception(self, error: BaseException) -> None:
        """The request has ended in an error. Kazoo may call this twice."""
        verdict = failure(error, self.sent)
        if isinstance(verdict, int):
            self._driver.engine.note(self._id, error)
            self._settle(self._driver.hub.error, verdict)
        elif not self.settled:
            self.settled = True
            self._driver.report_failure(self._id, verdict, error)

    def settle_unsent(self) -> None:
        """Reports that the request was not sent and never will be."""
        if not self.settled:
            self.settled = True
            self._driver.report(self._driver.hub.failed, self._id, "not-sent")

    def _settle(self, verb: Any, *arguments: object) -> None:
        if not self.settled:
            self.settled = True
            self._driver.report(verb, self._id, self.session, *arguments)

    # Its watch.

    @property
    def owner(self) -> tuple[int, int]:
        """See Watching."""
        return id(self._driver), self._key

    @property
    def of_list(self) -> bool:
        """See Watching."""
        return self._operation == "children"

    def is_wanted(self) -> bool:
        """See Watching."""
        return self._driver.engine.knows(self._key)

    def notify(self, event: str) -> None:
        """See Watching."""
        self._driver.report(self._driver.hub.watch, self._id, self.session, event)


class KazooDriver:
    """Carries out commands on a KazooClient, which the program or the driver has made."""

    inline = False
    needs_thread = True

    def __init__(self, client: Any, own: bool = False) -> None:
        check_client(client)
        self.client = client
        self.hub = Hub("zookeeper", id(client))
        self.engine: EnginePort
        self.hooks: Hooks
        self._own = own
        self._acl_entries: tuple[Any, ...] = ()
        self._acl_bytes = b""
        self._acl()

    @classmethod
    def connect(cls, address: Address) -> KazooDriver:
        """A driver that makes its own client."""
        return cls(OwnClient(address), own=True)

    def describe(self) -> str:
        """The servers of the ensemble."""
        return "zk://" + ",".join(host_and_port(*server) for server in self.client.hosts)

    def start(self, engine: EnginePort) -> None:
        """See Driver."""
        self.engine = engine
        self.hooks = Hooks.attach(self.client, self)
        if self._own:
            self.client.start_async()
            return
        engine.reachability.when_closed = "the KazooClient is not started: call its start()"
        with engine.order:
            state = self.client.client_state
            if state == KeeperState.AUTH_FAILED:
                self.report(self.hub.session, "auth-failed")
            elif state == KeeperState.CLOSED and not self.hooks.is_starting():
                self.report(self.hub.session, "closed")
        if self.client.connected:
            # Its reply arrives on the connection's thread, in order with the events of the connection.
            self.hooks.send_queue.post(Probe(self))

    def submit(self, command: Command) -> None:
        """See Driver."""
        client = self.client
        if command.operation == "reconnect":
            # The driver does not end a connection of the program.
            if self._own and client.connected:
                client.change_server()
            return
        request = Request(self, command)
        stopped = client._stopped.is_set()
        if stopped or not (client.connected or self.hooks.is_arriving):  # Kazoo would queue it.
            connecting = not stopped and client.client_state == KeeperState.CONNECTING
            request.set_exception(ConnectionLoss() if connecting else ConnectionClosedError())
            return
        self.hooks.send_queue.post(request)
        if request.is_stale:
            request.settle_unsent()

    def carry_out(self, command: Command, contender: Contender) -> None:
        """See Driver."""
        raise AssertionError("kazoo's thread carries out all commands")

    def after(self) -> None:
        """See Driver. A thread that was interrupted in :meth:`submit` may not have woken kazoo's thread."""
        self.hooks.send_queue.wake()

    def forget(self, key: int) -> None:
        """See Driver."""
        self.hooks.watches.forget((id(self), key))

    def packet(self, command: Command) -> tuple[int, bytes, str]:
        """The opcode and the bytes of a command, and its path with the client's chroot."""
        operation = command.operation
        if operation == "multi":
            parts = [
                self._write(what, self._full(path), data, kind, version)
                for what, path, data, kind, version in command.parts
            ]
            return wire.MULTI, wire.multi(parts), ""
        path = self._full(command.path)
        if operation == "children" or operation == "get":
            watch = wire.WITH_WATCH if command.flags & _WATCH else wire.NO_WATCH
            opcode = wire.GET_DATA if operation == "get" else wire.GET_CHILDREN2
            return opcode, wire.text(path) + watch, path
        if operation == "sync":
            return wire.SYNC, wire.text(path), path
        return *self._write(operation, path, command.data, command.flags), path

    def _full(self, path: str) -> str:
        chroot = self.client.chroot
        return chroot + path if path != "/" else chroot or "/"

    def _write(
        self, operation: str, path: str, data: bytes, kind: int, version: int = wire.ANY_VERSION
    ) -> tuple[int, bytes]:
        """The opcode and the bytes of a write."""
        named = wire.text(path)
        if operation == "create":
            opcode, flags = _KINDS[kind]
            return opcode, named + wire.blob(data) + self._acl() + wire.flags(flags)
        if operation == "set":
            return wire.SET_DATA, named + wire.blob(data) + wire.version(version)
        return wire.CHECK if operation == "check" else wire.DELETE, named + wire.version(version)

    def _acl(self) -> bytes:
        """The bytes of the ACL of new nodes. The program may give the client another one at any time."""
        entries = tuple(self.client.default_acl or OPEN_ACL_UNSAFE)
        if entries != self._acl_entries:
            self._acl_bytes = wire.acl(entries)
            self._acl_entries = entries
        return self._acl_bytes

    def report(self, verb: Any, *arguments: object) -> None:
        """Reports an outcome or a notice. It raises nothing, because an exception would end the connection's
        thread.
        """
        try:
            self.engine.report(verb, *arguments)
        except Exception as error:
            self.engine.fail(error)

    def report_failure(self, id: int, verdict: str, error: BaseException) -> None:
        """Reports that a request has no reply. It raises nothing, either."""
        try:
            self.engine.failed(id, verdict, error)
        except Exception as fault:
            self.engine.fail(fault)

    def starting(self) -> None:
        """See Listener. The hub may have treated the client's end as final. Now it waits for a session."""
        self.report(self.hub.session, "connecting", 0)

    def turn(self) -> None:
        """See Listener."""
        try:
            self.engine.end_if_stranded()
        except Exception as error:
            self.engine.fail(error)

    def connect_failed(self, error: BaseException) -> None:
        """See Listener."""
        self.engine.connect_failed(error)

    def connecting(self) -> None:
        """See Listener."""
        self.report(self.hub.session, "connecting")

    def connected(self, session: int, timeout_ms: int) -> None:
        """See Listener."""
        self.engine.connected()
        self.report(self.hub.session, "connected", session, timeout_ms * 1000)

    def disconnected(self, state: str) -> None:
        """See Listener."""
        self.report(self.hub.session, state, self.client._session_id or 0)
        self.engine.disconnected(state)

    def close(self, within: float) -> None:
        """See SyncDriver."""
        if not self._own:
            self.hooks.watches.leave(id(self))
            self.hooks.detach(self)
            return
        # Kazoo may wait for a server that does not reply. Another thread does that, and this one stops
        # waiting.
        closer = try_start("close", self._stop)
        if closer is None:
            self._stop()
            return
        closer.join(within)
        if closer.is_alive():
            self.client.abort()

    def _stop(self) -> None:
        try:
            self.client.stop()
            self.client.close()
        except Exception:
            log.debug("closing kazoo", exc_info=True)
        finally:
            self.hooks.detach(self)


class Probe:
    """A sync for a client that was connected before the driver existed. When its reply arrives, the hooks
    know the session timeout.
    """

    type = wire.SYNC
    path = "/"
    is_stale = False

    def __init__(self, driver: KazooDriver) -> None:
        self._driver = driver

    def serialize(self) -> bytes:
        """The request's bytes."""
        return wire.text(self._driver.client.chroot or "/")

    def settle_unsent(self) -> None:
        """The connection was lost meanwhile. Kazoo reports the next one."""

    def deserialize(self, packet: bytes, offset: int) -> None:
        """The server's reply."""

    def set(self, value: object = None) -> None:
        """The client is connected."""
        driver = self._driver
        driver.connected(driver.client._session_id, driver.hooks.timeout_ms())

    def set_exception(self, error: BaseException) -> None:
        """The connection was lost meanwhile, and kazoo reports the next one; or the server has replied with
        an error, so the client is connected.
        """
        if isinstance(failure(error, True), int):
            self.set()
