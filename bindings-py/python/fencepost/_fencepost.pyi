"""The hub, compiled from Rust. Use it as ``fencepost.hub``."""

from typing import Literal, final

from .errors import MisuseError

__all__ = [
    "Address",
    "Command",
    "Event",
    "Hub",
    "MemoryServer",
    "Record",
    "Scope",
    "Settings",
    "Wait",
    "__version__",
    "check_timeout",
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

    With an ``action`` the same settings inspect that lock. It is ``list``; or ``break`` or ``revoke``, with
    a contender's ``node`` and its ``fence`` as decimal digits.

    Without a server, the kind is that of a machine, such as ``zookeeper-mutex`` or ``redis-string``. Raises
    ConfigError.
    """

    def __new__(cls, text: str) -> Settings: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...

@final
class Scope:
    """The checked settings of all idempotent operations of a scope. It makes the settings of each request.

    They are JSON. Only ``scope`` is required. Durations are whole microseconds::

        {"server": "redis", "kind": "claim", "scope": "payments", "lease": 30000000, "on_lease_end": "block"}

    A contender with the settings of ``claim`` or ``consume`` claims an operation. With other settings it
    makes one request: ``acquire`` begins it, and its event is completed, replayed, looked, swept
    or refused.

    A fingerprint is a digest of what the operation is asked to do, and a binding says to whom a token was
    issued; both may be empty. All methods raise ConfigError.
    """

    def __new__(cls, text: str) -> Scope: ...
    def claim(self, key: str, fingerprint: bytes) -> Settings:
        """A claim on the operation ``key``."""

    def consume(self, token: str, binding: bytes, fingerprint: bytes) -> Settings:
        """A claim with a token that was issued with the same binding."""

    def issue(self, token: str, binding: bytes, life: int | None = None) -> Settings:
        """Makes a token, which a claim may consume within ``life`` microseconds, ten minutes by default."""

    def register(
        self, key: str, binding: bytes | None, fingerprint: bytes, tag: str, result: bytes
    ) -> Settings:
        """Claims an operation and stores its result at once; with a binding, an operation whose key is a
        token.
        """

    def update(
        self, key: str, operation: str, version: int, fingerprint: bytes, tag: str, result: bytes
    ) -> Settings:
        """Replaces the value at ``key``, if it has this version (0: if there is none). ``operation``
        identifies the update: its repetition changes nothing.
        """

    def look(self, key: str) -> Settings:
        """Reads a record."""

    def settle(self, key: str, guard: int, tag: str, result: bytes) -> Settings:
        """An operator stores the result of an operation. ``guard`` is that of the record that the operator
        has seen.
        """

    def forget(self, key: str, guard: int) -> Settings:
        """An operator deletes the record. Its event is looked, without a record."""

    def sweep(self) -> Settings:
        """Deletes what no request of the scope would miss. Its event is swept. On Redis it deletes nothing,
        because the server expires records by itself.
        """

    def derive(self, key: str, step: str) -> str:
        """A key for one step of the operation at another service: 32 hexadecimal digits, the same for all
        attempts and in all languages.
        """

@final
class Record:
    """What the server stores of an operation or a value. Times are the server's, in milliseconds since 1970.

    The record of a completed event has only what this client knows: its times are 0.
    """

    @property
    def state(self) -> Literal["issued", "running", "done", "value"]: ...
    @property
    def attempt(self) -> str:
        """The attempt that brought it there."""

    @property
    def fence(self) -> int:
        """The fence of the last claim; 0 before the first one."""

    @property
    def takeovers(self) -> int:
        """How often a claim has taken the operation over."""

    @property
    def policy(self) -> Literal["retake", "block", "indeterminate"]:
        """What happens at the end of a lease."""

    @property
    def lease_end(self) -> int:
        """The lease lasts until just before this moment; 0 if there is none."""

    @property
    def kept_until(self) -> int:
        """The last millisecond in which the record counts; 0 if it has no end."""

    @property
    def version(self) -> int:
        """The version of a value, or the version that an update made; otherwise 0."""

    @property
    def tag(self) -> str:
        """What the result is: a short text of the program's."""

    @property
    def result(self) -> bytes:
        """The result, or the value."""

    @property
    def guard(self) -> int:
        """What settle and forget compare: a value's version, an operation's fence."""

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
        """ZooKeeper: the session timeout to ask for, in microseconds."""

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
        """Redis: the database's number."""

    @property
    def tls(self) -> bool:
        """Redis: whether the connection is made with TLS."""

    @property
    def ca(self) -> str | None:
        """Redis: the file of certificates to check the server's against. None: the system's."""

@final
class Command:
    """Something for a driver to do. Report the outcome to the hub, with the command's id."""

    @property
    def key(self) -> int:
        """The machine that gave the command; 0: the hub itself."""

    @property
    def id(self) -> int: ...
    @property
    def target(self) -> Literal["any", "own", "server"]:
        """The connection that has to carry it: any, one for this machine alone, or one to one server."""

    @property
    def server(self) -> int | None:
        """The number of the server, if that is the target."""

    @property
    def deadline(self) -> int | None:
        """The time from which on the machine does not need the outcome. A driver need not observe it."""

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
        """ZooKeeper: the new data of a node."""

    @property
    def flags(self) -> int:
        """ZooKeeper: 1 is create ephemeral and sequential, 2 create a container, 4 get or children with a
        watch, 8 create ephemeral.
        """

    @property
    def parts(self) -> tuple[tuple[Literal["create", "set", "delete", "check"], str, bytes, int, int], ...]:
        """ZooKeeper: the writes of a multi; each has an operation, a path, data, flags and the version that
        the node must have (-1: any).
        """

    @property
    def arguments(self) -> tuple[bytes, ...]:
        """Redis: the command, or the channel."""

@final
class Event:
    """Something that a machine reports to the application. Attributes of other events are None."""

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
        """queued: the number of contenders that are ahead in the queue, if that is known."""

    @property
    def attempt(self) -> str | None:
        """acquired: the attempt's number, which the server stores to say whose the lock is."""

    @property
    def fence(self) -> int | None:
        """acquired: the fence, if the server can give one."""

    @property
    def takeovers(self) -> int | None:
        """acquired: how often the operation had been taken over before this claim; 0 for a lock."""

    @property
    def valid_until(self) -> int | None:
        """acquired, extended, resumed: when the grant ends if nothing extends it; None: it has no lease."""

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
        """lost, refused: the command whose outcome was the cause, if there is one."""

    @property
    def detail(self) -> str | None:
        """lost, refused: the server's message, or the value that is wrong; mixed-layouts: the name of the
        foreign contender's node.
        """

    @property
    def retry_after(self) -> int | None:
        """lost, refused: for how many more microseconds the lease of the present holder lasts, if the server
        has reported it.
        """

    @property
    def record(self) -> Record | None:
        """completed, replayed, looked: the record; None if there is none. refused: the present value, if it
        has another version than an update expects.
        """

    @property
    def deleted(self) -> int | None:
        """swept: how many records are deleted."""

    @property
    def found(self) -> tuple[tuple[str, bool, bool, int, int, int, str], ...] | None:
        """found: the contenders. Each is a tuple of node, holds, shared, session, since (milliseconds since
        1970), fence and identifier.
        """

@final
class Wait:
    """There is nothing to do until an input comes, or until a time."""

    @property
    def until(self) -> int | None:
        """When to call handle_timeout at the latest. None: only another input can change anything."""

    @property
    def reason(self) -> str | None:
        """What the time is for: acquire-timeout, retry, poll, renew, validity, max-hold or linger."""

@final
class Hub:
    """All machines that share one connection. Any thread may call; each call is atomic.

    A method raises MisuseError if the present state does not allow the call. It has changed nothing then.
    """

    def __new__(cls, family: str, seed: int) -> Hub: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...
    @property
    def id(self) -> int:
        """The number on its server of a hub that runs in memory; 0 for others."""

    @property
    def pending(self) -> int:
        """The number of machines. It includes closed machines that still wait for the server."""

    @property
    def unreleased(self) -> int:
        """The number of grants that have ended since ``shutdown`` without a release: the server has refused
        it, or the connection was closed before it.
        """

    def open(self, now: int, settings: Settings, contender: bytes, seed: int) -> int:
        """Opens a machine and gives its key.

        ``contender`` is 16 bytes from the system's random source, new for each call. It becomes part of the
        names of nodes and of values.
        """

    def acquire(self, now: int, key: int, acquire_timeout: int | None = None) -> None:
        """Asks for the lock. ``acquire_timeout`` is the longest wait in microseconds; None: no limit. Raises
        ConfigError if it is not positive.
        """

    def try_acquire(self, now: int, key: int) -> None:
        """Asks for the lock, and does not wait for other contenders."""

    def extend(self, now: int, key: int) -> None:
        """Renews the lease of the grant."""

    def release(self, now: int, key: int) -> None:
        """Releases the grant. A claim: nothing has happened, so the operation may be claimed anew."""

    def downgrade(self, now: int, key: int) -> None:
        """Turns a writer's grant into a reader's. The event is downgraded, refused (it stays a writer's) or
        lost.
        """

    def complete(self, now: int, key: int, tag: str, result: bytes) -> None:
        """Ends a claim: its operation has this result. The event is completed; replayed, if another attempt
        has stored a result; refused, and the claim goes on; or lost. After a loss it may be called again.
        """

    def leave(self, now: int, key: int) -> None:
        """Ends a claim whose outcome is unknown: its policy decides what follows."""

    def cancel(self, now: int, key: int) -> None:
        """Cancels an acquire that waits."""

    def created(self, now: int, id: int, session: int, path: str, czxid: int) -> None:
        """ZooKeeper has created a node."""

    def children(self, now: int, id: int, session: int, names: list[str]) -> None:
        """ZooKeeper has listed children, or carried out a multi: the names of the nodes created, in order."""

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
        """ZooKeeper has read a node; ``created`` is its ctime and ``modified`` its mtime, in milliseconds
        since 1970.
        """

    def done(self, now: int, id: int, session: int) -> None:
        """ZooKeeper has carried out a set, a delete or a sync."""

    def error(self, now: int, id: int, session: int, code: int) -> None:
        """ZooKeeper has answered with an error code of its protocol."""

    def reply(self, now: int, id: int, value: object) -> None:
        """Redis has answered. ``value`` is None, an int, bytes, or a list of these. An exception in a list is
        an error.
        """

    def error_reply(self, now: int, id: int, text: str) -> None:
        """Redis has answered with an error. ``text`` begins with the error's code."""

    def failed(self, now: int, id: int, failure: str) -> None:
        """There is no reply. ``failure`` is ``not-sent`` (certainly not carried out), ``unknown`` (perhaps
        carried out) or ``closed`` (there never will be one).
        """

    def session(self, now: int, state: str, session: int = 0, timeout: int = 0) -> None:
        """The state of ZooKeeper's session: ``connected`` (with the negotiated timeout), ``suspended``,
        ``expired``, ``auth-failed`` or ``closed``. Report ``connecting`` before the client library asks for a
        new session.
        """

    def watch(self, now: int, id: int, session: int, event: str) -> None:
        """The watch of command ``id`` has an event: ``deleted``, ``changed`` or ``gone``."""

    def message(self, now: int, id: int) -> None:
        """A message has come on the channel of command ``id``."""

    def gone(self, now: int, id: int) -> None:
        """The subscription of command ``id`` is lost."""

    def handle_timeout(self, now: int) -> None:
        """Time has passed. Early and repeated calls change nothing."""

    def poll_output(self, only: int | None = None) -> Command | Event | Wait:
        """The next output, of all machines or of one. A Wait means that there is no other output."""

    def drain(self, into: list[Command | Event]) -> int | None:
        """Appends all commands and events to ``into``. Gives the time of the Wait after them."""

    def close(self, now: int, key: int) -> None:
        """Closes a machine in any state. It releases its grant, leaves its claim, or cancels its acquire."""

    def shutdown(self, now: int) -> None:
        """Closes all machines, and opens no more. Go on with inputs and outputs until ``pending`` is 0."""

    def disconnect(self, now: int) -> None:
        """Ends the session of a hub that runs in memory."""

@final
class MemoryServer:
    """A model of ZooKeeper inside the process. Its hubs carry out their own commands and output none."""

    def __new__(cls) -> MemoryServer: ...
    def connect(self, now: int, seed: int) -> Hub:
        """A hub with a session on this server."""

    def take_woken(self) -> list[int]:
        """The ids of the hubs that have new outputs since the last call."""

def option_type(name: str) -> Literal["duration", "whole", "flag", "text", "texts"] | None:
    """The type of that option's value. None: there is no such option."""

def misuse(name: str) -> MisuseError:
    """The error of a misuse that the Python client itself finds: not-held or client-closed."""

def check_timeout(given: int) -> None:
    """Raises ConfigError for a timeout, in microseconds, that is not positive."""

def handshake_timeout(session_timeout: int, failures: int) -> int:
    """The time that a ZooKeeper server may take to answer the handshake of a connection, in microseconds.
    ``session_timeout`` is in microseconds, and ``failures`` is the number of handshakes that have failed in a
    row.

    A server that is starting accepts connections and never answers on them.
    """

def is_from_replica(error: str) -> bool:
    """Whether an error of a Redis server says that the server is a replica. ``error`` begins with its code.

    On such an answer a driver closes a connection that it has made itself, and resolves the address again. It
    does nothing with a connection of the program. In both cases it reports the answer to the hub.
    """
