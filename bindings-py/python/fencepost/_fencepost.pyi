"""The hub, compiled from Rust. Use it as ``fencepost.hub``."""

from typing import Literal, final

from .errors import MisuseError

__all__ = [
    "Address",
    "Command",
    "Event",
    "Hub",
    "MemoryServer",
    "Settings",
    "Wait",
    "__version__",
    "check_timeout",
    "is_from_replica",
    "misuse",
]

__version__: str

@final
class Settings:
    """The checked settings of one lock: made once, used for as many contenders as you like.

    They are read from JSON; durations are whole microseconds, and only ``kind`` and ``name`` are needed::

        {"kind": "zookeeper-mutex", "name": "stock/42", "prefix": "/shop", "max_hold": 60000000}
        {"kind": "zookeeper-single", "name": "nightly", "identifier": "till-7"}
        {"kind": "zookeeper-semaphore", "name": "presses", "permits": 3, "layout": "kazoo"}
        {"kind": "redis-string", "name": "stock/42", "ttl": 10000000, "renew": true, "poll": 100000}

    Raises ConfigError.
    """

    def __new__(cls, text: str) -> Settings: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...

@final
class Address:
    """An address that has been read: ``memory:``, ``zk://HOST:PORT,HOST:PORT/PREFIX``, ``redis://…``. Its
    ``repr`` shows neither user nor password. Raises ConfigError.
    """

    def __new__(cls, text: str) -> Address: ...
    @property
    def kind(self) -> Literal["memory", "zookeeper", "redis"]: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...
    @property
    def shown(self) -> str:
        """The address for people: without user, password and options."""

    @property
    def name(self) -> str:
        """Of ``memory:NAME``."""

    @property
    def hosts(self) -> list[str]:
        """ZooKeeper: every member as HOST:PORT."""

    @property
    def prefix(self) -> str:
        """ZooKeeper: where the locks lie."""

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
        """Redis: the file of the certificates to check the server's against; None: the system's."""

@final
class Command:
    """Something for a driver to do. Put what came of it into the hub, with its id."""

    @property
    def key(self) -> int:
        """The machine it is for; 0: the hub itself."""

    @property
    def id(self) -> int: ...
    @property
    def target(self) -> Literal["any", "own", "server"]:
        """Which connection has to carry it: any, one kept for this machine, or a server of a quorum."""

    @property
    def server(self) -> int | None:
        """The number of the server, if that is the target."""

    @property
    def deadline(self) -> int | None:
        """When the machine stops caring: advice."""

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
        "call",
        "subscribe",
        "unsubscribe",
    ]: ...
    @property
    def path(self) -> str:
        """ZooKeeper: the path."""

    @property
    def data(self) -> bytes:
        """ZooKeeper: a node's new data."""

    @property
    def flags(self) -> int:
        """ZooKeeper: 1 create ephemeral and sequential, 2 create a container, 4 get or children with a watch,
        8 create ephemeral.
        """

    @property
    def parts(self) -> tuple[tuple[Literal["create", "delete", "check"], str, bytes, int], ...]:
        """ZooKeeper: the writes of a multi, all or none: operation, path, data and flags of each."""

    @property
    def arguments(self) -> tuple[bytes, ...]:
        """Redis: the command, or the channel."""

@final
class Event:
    """Something for the application. What an event does not have is None."""

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
        "found",
        "lost",
        "released",
        "refused",
    ]: ...
    @property
    def ahead(self) -> int | None:
        """queued: how many contenders come first, where that is known."""

    @property
    def attempt(self) -> str | None:
        """acquired: what the server stores to say whose the lock is."""

    @property
    def fence(self) -> int | None:
        """acquired: the grant's number, where the server can give one."""

    @property
    def valid_until(self) -> int | None:
        """acquired, extended, resumed."""

    @property
    def reason(self) -> str | None:
        """lost, refused: the reason's name."""

    @property
    def code(self) -> int | None:
        """lost, refused: the reason's number."""

    @property
    def text(self) -> str | None:
        """lost, refused: the reason in words."""

    @property
    def command(self) -> int | None:
        """lost, refused: the command that brought it to light, if one did."""

    @property
    def detail(self) -> str | None:
        """lost, refused: what the server said, or which value is in the way; mixed-layouts: the name of the
        stranger's node.
        """

    @property
    def found(self) -> tuple[tuple[str, bool, bool, int, int, int, str], ...] | None:
        """found: of each contender node, holds, shared, session, since (milliseconds since 1970), fence,
        identifier.
        """

@final
class Wait:
    """Nothing to do until an input comes, or the time."""

    @property
    def until(self) -> int | None:
        """When to call handle_timeout at the latest; None: only an input can change anything."""

    @property
    def reason(self) -> str | None:
        """What the time is for: patience, retry, poll, renew, validity, max-hold or linger."""

@final
class Hub:
    """All machines that share one connection. Any thread may call; each call is atomic.

    Verbs raise MisuseError for what makes no sense now, and have changed nothing then.
    """

    def __new__(cls, family: str, seed: int) -> Hub: ...
    @property
    def family(self) -> Literal["zookeeper", "redis"]: ...
    @property
    def id(self) -> int:
        """The number on its server of a hub that runs in memory; 0 for others."""

    @property
    def pending(self) -> int:
        """How many machines there are, those included that are closed and still wait for the server."""

    def open(self, now: int, settings: Settings, owner: bytes, seed: int) -> int:
        """Opens a machine and gives its key. ``owner``: 16 bytes from the system's random source, new every
        time.
        """

    def acquire(self, now: int, key: int, patience: int | None = None) -> None:
        """Wants the lock, for ever or for so many microseconds. ConfigError for no positive time."""

    def try_acquire(self, now: int, key: int) -> None:
        """Wants the lock at once or not at all."""

    def extend(self, now: int, key: int) -> None:
        """Makes the grant last from now on."""

    def release(self, now: int, key: int) -> None:
        """Gives the grant back."""

    def downgrade(self, now: int, key: int) -> None:
        """Turns a writer's grant into a reader's. Ends in downgraded, in refused while the grant stays as it
        was, or in lost.
        """

    def cancel(self, now: int, key: int) -> None:
        """Stops an acquire."""

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
        owner: int,
        version: int,
        created: int,
    ) -> None:
        """ZooKeeper has read a node; ``created``: its ctime, in milliseconds since 1970."""

    def done(self, now: int, id: int, session: int) -> None:
        """ZooKeeper has set, deleted or synced."""

    def error(self, now: int, id: int, session: int, code: int) -> None:
        """ZooKeeper has answered with an error code of its protocol."""

    def reply(self, now: int, id: int, value: object) -> None:
        """Redis has answered: None, int, bytes, or a list of these; an exception in a list is an error."""

    def error_reply(self, now: int, id: int, text: str) -> None:
        """Redis has answered with an error, whose text begins with its code."""

    def failed(self, now: int, id: int, failure: str) -> None:
        """Nobody has answered: ``not-sent``, ``unknown`` or ``closed``."""

    def session(self, now: int, state: str, session: int = 0, timeout: int = 0) -> None:
        """ZooKeeper's session is ``connected`` (with the negotiated timeout), ``suspended``, ``expired``,
        ``auth-failed`` or ``closed``; ``connecting`` is told before a new one is asked for.
        """

    def watch(self, now: int, id: int, session: int, event: str) -> None:
        """The watch that command ``id`` has set tells: ``deleted``, ``changed`` or ``gone``."""

    def message(self, now: int, id: int) -> None:
        """A message has come on the channel that command ``id`` has subscribed to."""

    def gone(self, now: int, id: int) -> None:
        """The subscription of command ``id`` is lost."""

    def handle_timeout(self, now: int) -> None:
        """Time has passed. Early and repeated calls do no harm."""

    def poll_output(self, only: int | None = None) -> Command | Event | Wait:
        """The next thing to do, of all machines or of one; at last a Wait."""

    def drain(self, into: list[Command | Event]) -> int | None:
        """Appends everything there is to do; gives until when to wait."""

    def close(self, now: int, key: int) -> None:
        """Closes a machine in any state: what it holds is released, what it waits for is given up."""

    def shutdown(self, now: int) -> None:
        """Closes all machines and opens no more. Go on driving until ``pending`` is 0."""

    def disconnect(self, now: int) -> None:
        """Ends the session of a hub that runs in memory."""

@final
class MemoryServer:
    """A ZooKeeper model inside the process. Its hubs carry out their own commands: they give events only."""

    def __new__(cls) -> MemoryServer: ...
    def connect(self, now: int, seed: int) -> Hub:
        """A hub with a session on this server."""

    def take_woken(self) -> list[int]:
        """The ids of hubs that have something to poll."""

def misuse(name: str) -> MisuseError:
    """The error for a misuse that the client itself has found: not-held, client-closed, not-waiting, busy,
    upgrade, not-a-writer.
    """

def check_timeout(given: int) -> None:
    """Raises ConfigError for a timeout, in microseconds, that makes no sense."""

def is_from_replica(error: str) -> bool:
    """Whether an error of a Redis server, from its code on, says that the server is a replica.

    On such an answer a driver drops this connection and resolves the address again, if the driver made the
    connection; on the caller's own connection it does nothing. The hub gets the answer in any case.
    """
