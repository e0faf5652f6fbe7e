"""The hub, compiled from Rust. Use it as ``fencepost.hub``."""

from collections.abc import Callable
from typing import Any, Literal, final

from .errors import MisuseError

__all__ = [
    "Address",
    "Command",
    "Event",
    "Hub",
    "MemoryMessage",
    "MemoryNode",
    "MemoryServer",
    "MemorySession",
    "Record",
    "Scope",
    "Settings",
    "Wait",
    "__version__",
    "bound",
    "check_timeout",
    "ending",
    "handshake_timeout",
    "is_from_replica",
    "misuse",
    "option_type",
]

__version__: str

@final
class Settings:
    """The checked settings of one lock. Any number of contenders can use them.

    They are JSON: the server (``zookeeper``, ``redis`` or ``memory``), the kind of lock (``lock``,
    ``reader``, ``writer``, ``semaphore``, ``election`` or ``multi-lock``), the name (``names`` for a
    multi-lock), and options. Durations are whole microseconds::

        {"server": "zookeeper", "kind": "lock", "name": "stock/42", "prefix": "/shop", "max_hold": 60000000}
        {"server": "zookeeper", "kind": "lock", "name": "nightly", "fair": false, "identifier": "till-7"}
        {"server": "zookeeper", "kind": "semaphore", "name": "presses", "permits": 3, "layout": "kazoo"}
        {"server": "memory", "kind": "multi-lock", "names": ["stock/42", "stock/43"]}
        {"server": "redis", "kind": "lock", "name": "stock/42", "ttl": 10000000, "renew": true}

    With an ``action``, they are the settings of an inspection of that lock. The action is ``list``, ``break``
    or ``revoke``. For the last two, ``node`` and ``fence`` (decimal digits) are those of a contender.

    Without a server, the kind is that of a machine, such as ``zookeeper-mutex`` or ``redis-string``. The
    constructor raises ConfigError.
    """

    def __new__(cls, text: str) -> Settings: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...

@final
class Scope:
    """The checked settings of all idempotent operations of a scope. It makes the settings of each request.

    They are JSON. Only ``scope`` is required. Durations are whole microseconds::

        {"server": "redis", "kind": "claim", "scope": "payments", "lease": 30000000, "on_lease_end": "block"}

    A machine with the settings of ``claim`` or ``consume`` claims an operation. A machine with other
    settings does a single step: ``acquire`` or ``try_acquire`` begins it, and it ends in the event completed,
    replayed, looked, swept or refused.

    A fingerprint is a digest of the operation's arguments. A binding identifies the user and the purpose of a
    token. Both may be empty. All methods raise ConfigError.
    """

    def __new__(cls, text: str) -> Scope: ...
    def claim(self, key: str, fingerprint: bytes) -> Settings:
        """The settings of a claim on the operation ``key``."""

    def consume(self, token: str, binding: bytes, fingerprint: bytes) -> Settings:
        """The settings of a claim on a token that was issued with the same binding."""

    def issue(self, token: str, binding: bytes, life: int | None = None) -> Settings:
        """Issues a token. A claim may consume it within ``life`` microseconds, by default ten minutes."""

    def register(
        self, key: str, binding: bytes | None, fingerprint: bytes, tag: str, result: bytes
    ) -> Settings:
        """Claims and completes an operation at once. With a binding, the key is a token, and the step
        consumes it.
        """

    def update(
        self, key: str, operation: str, version: int, fingerprint: bytes, tag: str, result: bytes
    ) -> Settings:
        """Replaces the value at ``key``, if the value has this version; with 0, if there is no value.
        ``operation`` identifies the update: a repeated update changes nothing.
        """

    def look(self, key: str) -> Settings:
        """Reads the record of an operation, or a value."""

    def settle(self, key: str, guard: int, tag: str, result: bytes) -> Settings:
        """Stores the result of an operation, for an operator. ``guard`` is that of the record that the
        operator has read.
        """

    def forget(self, key: str, guard: int) -> Settings:
        """Deletes a record, for an operator. It ends in the event looked, without a record."""

    def sweep(self) -> Settings:
        """Deletes the records of the scope that are free or past their retention. It ends in the event swept.
        On Redis it deletes nothing, because the server expires records by itself.
        """

    def derive(self, key: str, step: str) -> str:
        """A key for one step of the operation at another service: 32 hexadecimal digits, the same for all
        attempts and in all languages.
        """

@final
class Record:
    """The record that the server stores for an operation or a value. Times are the server's, in milliseconds
    since 1970.

    The record of a completed event contains only the data that this client knows: its times are 0.
    """

    @property
    def state(self) -> Literal["issued", "running", "done", "value"]: ...
    @property
    def attempt(self) -> str:
        """The attempt that wrote the record."""

    @property
    def fence(self) -> int:
        """The fence of the last claim; 0 before the first claim."""

    @property
    def takeovers(self) -> int:
        """How many takeovers the operation has had."""

    @property
    def policy(self) -> Literal["retake", "block", "indeterminate"]:
        """The rule for a claim that finds that the lease of another attempt has ended."""

    @property
    def lease_end(self) -> int:
        """When the lease ends; 0 if there is none."""

    @property
    def kept_until(self) -> int:
        """The last millisecond of the retention; 0 if it has no end, or if the server has not reported it."""

    @property
    def version(self) -> int:
        """The version of a value, or the version that an update made; otherwise 0."""

    @property
    def tag(self) -> str:
        """The tag of the result: a short text with which the program identifies the format of the result."""

    @property
    def result(self) -> bytes:
        """The result, or the value."""

    @property
    def guard(self) -> int:
        """Identifies this state of the record: ``settle`` and ``forget`` change no other state."""

@final
class Address:
    """A parsed address: ``memory:``, ``zk://HOST:PORT,HOST:PORT/PREFIX``, ``redis://…``. Its ``repr`` shows
    neither user nor password. Raises ConfigError.
    """

    def __new__(cls, text: str) -> Address: ...
    @property
    def kind(self) -> Literal["memory", "zookeeper", "redis"]: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...
    @property
    def shown(self) -> str:
        """The address for messages: without user, password and options."""

    @property
    def name(self) -> str:
        """``memory:NAME``: the name; empty if there is none."""

    @property
    def hosts(self) -> list[str]:
        """ZooKeeper: each server as HOST:PORT."""

    @property
    def prefix(self) -> str:
        """ZooKeeper: the path below which the locks are."""

    @property
    def session_timeout(self) -> int | None:
        """ZooKeeper: the session timeout to request, in microseconds. ``memory:``: that of the client."""

    @property
    def host(self) -> str:
        """Redis: a name or an IP address; an IPv6 address without brackets."""

    @property
    def port(self) -> int:
        """Redis: from 1 to 65535."""

    @property
    def user(self) -> str:
        """Redis: the user, decoded; empty for the server's default user."""

    @property
    def password(self) -> str:
        """Redis: the password, decoded; empty if there is none."""

    @property
    def database(self) -> int:
        """Redis: the number of the database."""

    @property
    def tls(self) -> bool:
        """Redis: whether the connection is made with TLS."""

    @property
    def ca(self) -> str | None:
        """Redis: the file with the certificates that the client trusts. None: the system's certificates."""

@final
class Command:
    """A command for the driver. The driver reports its outcome to the hub, with the command's id."""

    @property
    def key(self) -> int:
        """The machine whose command it is; 0 for a command of the hub itself."""

    @property
    def id(self) -> int: ...
    @property
    def target(self) -> Literal["any", "own", "server"]:
        """The connection that sends it: any, one that is reserved for this machine, or that to one server."""

    @property
    def server(self) -> int | None:
        """The number of the server, if that is the target."""

    @property
    def deadline(self) -> int | None:
        """When the machine stops waiting for the outcome. After it, the driver need not send the command."""

    @property
    def operation(
        self,
    ) -> Literal[
        "create",
        "children",
        "get",
        "set",
        "delete",
        "multi",
        "sync",
        "reconnect",
        "call",
        "subscribe",
        "unsubscribe",
    ]: ...
    @property
    def path(self) -> str:
        """ZooKeeper: the path."""

    @property
    def data(self) -> bytes:
        """ZooKeeper: the data to write."""

    @property
    def flags(self) -> int:
        """ZooKeeper: 1 creates an ephemeral sequential node, 2 a container, 8 an ephemeral node. With 4, get
        and children set a watch.
        """

    @property
    def parts(self) -> tuple[tuple[Literal["create", "set", "delete", "check"], str, bytes, int, int], ...]:
        """ZooKeeper: the parts of a multi. Each has an operation, a path, data, flags, and the version that
        the node must have (-1: any).
        """

    @property
    def arguments(self) -> tuple[bytes, ...]:
        """Redis: the command with its arguments, or the channel."""

@final
class Event:
    """An event that a machine reports to the application. An attribute that belongs to another kind of event
    is None.
    """

    @property
    def key(self) -> int: ...
    @property
    def name(
        self,
    ) -> Literal[
        "queued",
        "acquired",
        "extended",
        "suspended",
        "resumed",
        "downgraded",
        "revoke-requested",
        "mixed-layouts",
        "completed",
        "replayed",
        "looked",
        "swept",
        "found",
        "lost",
        "released",
        "refused",
    ]: ...
    @property
    def ahead(self) -> int | None:
        """queued: the number of contenders before it, if the server keeps a queue."""

    @property
    def attempt(self) -> str | None:
        """acquired: the attempt that got the grant. The server stores it."""

    @property
    def fence(self) -> int | None:
        """acquired: the fence, if the server provides one."""

    @property
    def takeovers(self) -> int | None:
        """acquired: how many takeovers the operation had before this claim; 0 for a lock."""

    @property
    def valid_until(self) -> int | None:
        """acquired, extended, resumed: when the grant ends without an extension; None: there is no lease."""

    @property
    def reason(self) -> str | None:
        """lost, refused: the reason's name."""

    @property
    def code(self) -> int | None:
        """lost, refused: the reason's number."""

    @property
    def text(self) -> str | None:
        """lost, refused: the reason as a sentence."""

    @property
    def command(self) -> int | None:
        """lost, refused: the command whose outcome or watch was the cause, if one was."""

    @property
    def detail(self) -> str | None:
        """lost, refused: the server's message, or the value that is wrong; mixed-layouts: the name of the
        foreign contender's node.
        """

    @property
    def retry_after(self) -> int | None:
        """lost, refused: the number of microseconds until the lease of the present holder ends, if the server
        has reported it.
        """

    @property
    def record(self) -> Record | None:
        """completed, replayed, looked: the record; None if there is none. refused: the present value, if an
        update expects another version.
        """

    @property
    def deleted(self) -> int | None:
        """swept: how many records the sweep has deleted."""

    @property
    def found(
        self,
    ) -> tuple[tuple[str, bool, bool, int | None, int | None, float | None, int, str], ...] | None:
        """found: the contenders. Each is a tuple of node, holds, shared, session, since (milliseconds since
        1970), expires_in (in seconds), fence and identifier.
        """

@final
class Wait:
    """No output is left. Wait for the next input, or until a time."""

    @property
    def until(self) -> int | None:
        """When to call ``handle_timeout`` at the latest. None: only an input can change anything."""

    @property
    def reason(self) -> str | None:
        """The purpose of the time: acquire-timeout, retry, poll, renew, validity, max-hold or linger."""

@final
class Hub:
    """All machines on one connection. Any thread may call it; each call is atomic.

    A method raises MisuseError if the present state does not allow the call. Nothing has changed then. All
    times are in microseconds.
    """

    def __new__(cls, family: str, seed: int) -> Hub: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...
    @property
    def id(self) -> int:
        """The number of a hub on a MemoryServer; 0 for other hubs."""

    @property
    def pending(self) -> int:
        """The number of machines, including the closed machines that still wait for the server."""

    @property
    def unreleased(self) -> int:
        """The number of grants that have ended since ``shutdown`` without a release: the server refused it,
        or the connection was closed before.
        """

    def open(self, now: int, settings: Settings, contender: bytes, seed: int) -> int:
        """Opens a machine, one contender for one lock, and returns its key.

        ``contender`` is the contender's id: 16 bytes from the system's random source, new for each machine.
        It becomes part of the names of nodes and of values.
        """

    def acquire(self, now: int, key: int, acquire_timeout: int | None = None) -> None:
        """Acquires the lock, or claims the operation. ``acquire_timeout`` is in microseconds; None for no
        limit. It ends in the event acquired or refused; a claim also in replayed. Raises ConfigError if the
        timeout is not positive.
        """

    def try_acquire(self, now: int, key: int) -> None:
        """Acquires without waiting for other contenders. It ends as ``acquire`` does."""

    def extend(self, now: int, key: int) -> None:
        """Extends the grant by a full lease from now. It ends in the event extended or lost."""

    def release(self, now: int, key: int) -> None:
        """Releases the grant. It ends in the event released, refused or lost. The release of a claim reports
        that the operation had no effect, so another attempt may claim it.
        """

    def downgrade(self, now: int, key: int) -> None:
        """Downgrades a writer's grant to a reader's grant. No other contender gets the lock in between. It
        ends in the event downgraded; in refused, with the grant unchanged; or in lost.
        """

    def complete(self, now: int, key: int, tag: str, result: bytes) -> None:
        """Completes a claim: the server stores the result of the operation. It ends in the event completed;
        in replayed, if another attempt has stored a result; in refused, and the claim continues; or in lost.
        After a loss, the program may call it again.
        """

    def leave(self, now: int, key: int) -> None:
        """Leaves a claim: it is unknown whether the operation took effect, so its policy decides what the
        next claim gets.
        """

    def cancel(self, now: int, key: int) -> None:
        """Cancels an acquire. It ends in the event refused."""

    def created(self, now: int, id: int, session: int, path: str, czxid: int) -> None:
        """ZooKeeper: reports that a create succeeded. ``path`` is the complete path, ``czxid`` the reply's
        zxid. For every ZooKeeper outcome, ``session`` is the session in which the request was sent.
        """

    def children(self, now: int, id: int, session: int, names: list[str]) -> None:
        """ZooKeeper: reports a node's children; or of a multi, the names of the nodes created, in order."""

    def data(
        self,
        now: int,
        id: int,
        session: int,
        data: bytes,
        czxid: int,
        mzxid: int,
        owner: int,
        version: int,
        created: int,
        modified: int,
    ) -> None:
        """ZooKeeper: reports the data of a node, and its stat. ``owner`` is the session that owns the node,
        or 0. ``created`` is its ctime and ``modified`` its mtime, in milliseconds since 1970.
        """

    def done(self, now: int, id: int, session: int) -> None:
        """ZooKeeper: reports that a set, a delete or a sync succeeded."""

    def error(self, now: int, id: int, session: int, code: int) -> None:
        """ZooKeeper: reports an error of the server, by its number in the protocol."""

    def reply(self, now: int, id: int, value: object) -> None:
        """Redis: reports the server's reply. ``value`` is None, an int, bytes, or a list of these. An
        exception in a list is an error.
        """

    def error_reply(self, now: int, id: int, text: str) -> None:
        """Redis: reports an error of the server. ``text`` begins with the error's code."""

    def failed(self, now: int, id: int, failure: str) -> None:
        """Reports that a command has no reply. ``failure`` is ``not-sent`` (the server has certainly not
        executed it), ``unknown`` (the server may have executed it) or ``closed`` (the connection is closed
        for good).
        """

    def session(self, now: int, state: str, session: int = 0, timeout: int = 0) -> None:
        """ZooKeeper: reports the state of the session: ``connected`` (with the negotiated timeout),
        ``suspended``, ``expired``, ``auth-failed`` or ``closed``. Report ``connecting`` before the client
        library connects for a new session.
        """

    def watch(self, now: int, id: int, session: int, event: str) -> None:
        """ZooKeeper: reports an event of command ``id``'s watch: ``deleted``, ``changed`` or ``gone``."""

    def message(self, now: int, id: int) -> None:
        """Redis: reports a message on the channel of command ``id``."""

    def gone(self, now: int, id: int) -> None:
        """Redis: reports that the subscription of command ``id`` is lost."""

    def handle_timeout(self, now: int) -> None:
        """Reports that time has passed. Early and repeated calls change nothing."""

    def poll_output(self, only: int | None = None) -> Command | Event | Wait:
        """Removes and returns the next command or event, of all machines or of one. When none is left,
        returns a Wait.
        """

    def drain(self, into: list[Command | Event]) -> int | None:
        """Appends all commands and events to ``into``. Returns the time of the Wait after them."""

    def close(self, now: int, key: int) -> int | None:
        """Closes a key in any state. Its machine releases its grant, leaves its claim, or cancels.

        Returns the key of the machine that served ``key`` if no open key uses this machine any more. Then a
        driver can drop its data for that machine, such as watches. The acquires of one owner share a machine,
        which sends all commands with the key of the first of them. So while other acquires of the grant are
        open, the result is None.
        """

    def serves(self, key: int) -> bool:
        """Whether an open key uses the machine of this key. A driver calls this before it keeps a watch,
        because the reply to a read may arrive late.
        """

    def shutdown(self, now: int) -> None:
        """Closes all machines. No machine can be opened afterwards. Drive the hub until ``pending`` is 0."""

    def disconnect(self, now: int) -> None:
        """Ends the session of a hub on a MemoryServer."""

@final
class MemoryServer:
    """A model of ZooKeeper in this process. Its hubs carry out their own commands and output none.

    The server has no clock. A session ends when its hub disconnects, or by :meth:`expire`, and never by
    itself. A control accepts the ``id`` of a hub, and raises ConfigError (``invalid-option``) if the server
    has no such hub. It has no effect if the hub is already in that state. After a control, poll the hubs that
    :meth:`take_woken` returns.
    """

    def __new__(cls) -> MemoryServer: ...
    def connect(self, now: int, seed: int, session_timeout: int | None = None) -> Hub:
        """Makes a hub with a session on this server. The hub uses ``session_timeout``, in microseconds
        (default: 60 s), for its own deadlines. The server does not enforce it. Raises ConfigError if it is
        not positive.
        """

    def take_woken(self) -> list[int]:
        """The ids of the hubs that have new outputs. The server returns the id of a hub until that hub is
        polled.
        """

    def expire(self, hub: int) -> None:
        """Ends the hub's session, as servers do when they have not heard from a client for the session's
        timeout. The server deletes its ephemeral nodes. A connected hub learns of it at once, a suspended one
        when it reconnects, a paused one when it resumes. It then gets a new session.
        """

    def suspend(self, hub: int) -> None:
        """Cuts the hub's connection. The server keeps the session until it is expired."""

    def reconnect(self, hub: int) -> None:
        """Lets the hub connect again: in its session, or in a new one if the server has ended that one."""

    def pause(self, hub: int) -> None:
        """Pauses the hub, as if its process were stopped. It gets no notices and sends no requests, and no
        time passes for it: ``poll_output`` returns a Wait. It still accepts calls, but returns their outputs
        only after it is resumed. A shutdown resumes it.
        """

    def resume(self, hub: int) -> None:
        """Resumes the hub. It then receives the notices that it has missed."""

    def sessions(self) -> list[MemorySession]:
        """The hubs on this server that have not disconnected, in the order in which they connected."""

    def nodes(self) -> list[MemoryNode]:
        """All nodes, in the order of their paths, without the root."""

    def record(self, on: bool) -> None:
        """Starts or stops the recording of all messages between hubs and the server. A start clears the list;
        a stop keeps it. At first, the recording is off. The list grows until the next start.
        """

    def messages(self, after: int = 0) -> list[MemoryMessage]:
        """The recorded messages with a number above ``after``, in their order."""

@final
class MemorySession:
    """A hub on a MemoryServer, and its session."""

    @property
    def hub(self) -> int:
        """The id of the hub. It stays the same when the hub gets a new session."""

    @property
    def session(self) -> int:
        """The session; in the state ``expired``, the one that has ended."""

    @property
    def state(self) -> Literal["connected", "suspended", "expired"]:
        """``suspended``: the hub has no connection, and the server keeps the session. ``expired``: the server
        has ended the session, and the hub, which is suspended or paused, has not learned of it.
        """

    @property
    def paused(self) -> bool:
        """Whether the hub is paused."""

@final
class MemoryNode:
    """A node on a MemoryServer."""

    @property
    def path(self) -> str:
        """The path."""

    @property
    def data(self) -> bytes:
        """The data."""

    @property
    def hub(self) -> int | None:
        """The id of the hub whose session owns the node; None if the node is not ephemeral."""

@final
class MemoryMessage:
    """A message between a hub and a MemoryServer."""

    @property
    def number(self) -> int:
        """Its number in the list, from 1."""

    @property
    def time(self) -> int:
        """When it was sent, in microseconds on the hub's clock. An event has the time at which the hub got
        it.
        """

    @property
    def hub(self) -> int:
        """The id of the hub that sent or got it."""

    @property
    def session(self) -> int:
        """The session in which it was sent."""

    @property
    def kind(self) -> Literal["request", "reply", "event"]:
        """``event``: a notice that a hub receives without a request: a watch has fired, or its session has
        changed.
        """

    @property
    def command(self) -> int | None:
        """The hub's command: of a request, of the request that a reply answers, or of the request that set a
        watch. None for a change of the session.
        """

    @property
    def name(self) -> str:
        """A request: ``create``, ``children``, ``get``, ``set``, ``delete``, ``sync`` or ``multi``. A reply:
        ``created``, ``children``, ``data``, ``done`` or ``error``. An event: what has happened to the watched
        node (``created``, ``deleted``, ``changed``, or ``children`` if its children have changed), or the
        session's new state (``connecting``, ``connected``, ``suspended``, ``expired`` or ``closed``).
        """

    @property
    def paths(self) -> list[str]:
        """The node; of a ``multi``, that of each part; of the reply ``children``, the names in it."""

    @property
    def error(self) -> int | None:
        """The error code of the reply ``error``, such as -101; otherwise None."""

    @property
    def text(self) -> str:
        """The message in words, for people. The words may change."""

def ending(leave: Callable[..., None], forsake: Callable[..., None]) -> Callable[..., None]:
    """Not part of the API. A function that calls ``leave``. If that raises, it calls ``forsake`` with the
    same arguments, and raises the exception again. No interrupt, such as Ctrl-C, can occur before ``leave``
    or between the two.
    """

def bound(function: Any, object: Any, _kind: Any) -> Any:
    """Not part of the API. ``__get__`` of an object that is called like a function: returns a method."""

def option_type(name: str) -> Literal["duration", "whole", "flag", "text", "texts"] | None:
    """The type of an option's value; None if there is no such option."""

def misuse(name: str) -> MisuseError:
    """The error for a misuse that the Python client itself detects: not-held or client-closed."""

def check_timeout(given: int) -> None:
    """Raises ConfigError for a timeout, in microseconds, that is not positive."""

def handshake_timeout(session_timeout: int, failures: int) -> int:
    """How long a driver waits for a ZooKeeper server's reply to the handshake of a connection, in
    microseconds. ``session_timeout`` is in microseconds, and ``failures`` is the number of handshakes that
    have failed in a row.

    The limit is necessary because a server that is starting accepts connections and never replies.
    """

def is_from_replica(error: str) -> bool:
    """Whether an error of a Redis server means that the server is a replica. ``error`` begins with its code.

    If so, and the driver made the connection, the driver closes the connection and resolves the address
    again. It does nothing to a connection that the program made. In both cases it reports the error to the
    hub.
    """
