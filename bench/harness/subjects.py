"""The benchmark's subjects, one row each. To add one, add its row, and its kind to the language's worker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .complaint import Complaint

FAMILIES = ("zookeeper", "redis")
#: The kinds of locks on ZooKeeper, other than the mutex, that Rust, C and Python measure.
OTHERS = ("write", "read", "semaphore")


class Role(Enum):
    """Why a subject takes part."""

    OURS = "ours"
    RAW = "raw"  # the client library alone, with the same requests in the same flights
    PEER = "peer"  # another lock, over the same client library or one of its own
    FLOOR = "floor"  # only the server's event, without a lock: no hand-off can be faster


@dataclass(frozen=True)
class Limit:
    """A ratio that a subject must not exceed."""

    against: str
    at_most: float


@dataclass(frozen=True)
class Promise:
    """The largest numbers of requests and flights that a subject may need."""

    #: Of one acquire + release.
    requests: int
    flights: int
    #: Of a waiter, between the watch event and its grant.
    between: int


@dataclass(frozen=True)
class Subject:
    """One way to acquire a lock. The `kind` is the first argument of the language's worker."""

    family: str
    name: str
    role: Role
    language: str
    kind: str
    library: str
    limits: tuple[Limit, ...] = ()
    #: Measured only alone and on the wire: the lock is shared, or another subject has the same hand-offs.
    alone: bool = False
    #: The target on the wire, if it differs from the family's.
    promise: Promise | None = None
    #: A hand-off takes at most this many times as long as the floor's.
    floor: float | None = None
    #: How many contenders a process can start in reasonable time; 0: not measured with many.
    crowd: int = 0
    #: The name of a contender's node, for stand-ins that make a queue longer; with `{uuid}` or its `{hex}`.
    stand_in: str = ""
    #: How many hand-offs are enough, if each wakes all waiters.
    crowd_hand_offs: int = 1000
    #: Whether each contender has a node of its own.
    in_line: bool = True
    #: How many locks it acquires at once: it needs so many times fewer cycles to warm up.
    locks: int = 1
    #: The operation that it runs once for each key, if it acquires no lock.
    operation: str = ""

    def takes_part_in(self, scenarios: Iterable[str]) -> bool:
        """Whether any of these scenarios measures it."""
        return any((scenario == "operations") == bool(self.operation) for scenario in scenarios)

    def __str__(self) -> str:
        return f"{self.family}/{self.name}"


def _ours(
    family: str,
    name: str,
    language: str,
    kind: str,
    library: str,
    *limits: Limit,
    raw_library: str = "",
    alone: bool = False,
    promise: Promise | None = None,
    floor: float | None = None,
    crowd: int = 0,
    stand_in: str = "",
) -> list[Subject]:
    """A subject of fencepost, and its raw client, which uses the same library by default."""
    raw = f"{name}-raw"
    at_most = 1.10 if language in ("rust", "c") else 1.15
    suffix = kind.removeprefix("fencepost")
    own = (Limit(raw, at_most), *limits)
    return [
        Subject(family, raw, Role.RAW, language, f"raw{suffix}", raw_library or library, alone=alone),
        Subject(
            family, name, Role.OURS, language, kind, library, own, alone, promise, floor, crowd, stand_in
        ),
    ]


#: A place in the queue, then a permit, as in Curator and kazoo.
SEMAPHORE = Promise(requests=7, flights=3, between=2)
#: How many locks the workers acquire at once.
MANY = 3
#: All places in one transaction, then each queue and each own node, then each delete.
MULTI = Promise(requests=1 + 3 * MANY, flights=3, between=0)


def _other(name: str, language: str, library: str, kind: str, limit: Limit) -> Subject:
    """A lock of fencepost on ZooKeeper that is no mutex, compared only with the peer's."""
    promise = SEMAPHORE if kind == "semaphore" else None
    kind = f"fencepost-{kind}"
    return Subject(
        "zookeeper", name, Role.OURS, language, kind, library, (limit,), alone=True, promise=promise
    )


def _curator(kind: str) -> Limit:
    return Limit("curator" if kind == "mutex" else f"curator-{kind}", 0.80)


#: What a subject does: the two requests themselves; a call of a wrapped function; a request to an endpoint.
CLAIM, FIRST, REPLAY, ENDPOINT = "claim + complete", "first call", "replay", "request to an endpoint"

#: A claim, and a completion. On ZooKeeper a claim is a transaction and a read, in one flight.
OPERATION = {
    "zookeeper": Promise(requests=3, flights=2, between=0),
    "redis": Promise(requests=2, flights=2, between=0),
}


def _operation(family: str, name: str, language: str, library: str, raw_library: str = "") -> list[Subject]:
    """Operations of fencepost, and the raw client that sends the same requests."""
    own, raw = f"{name}-operation", f"{name}-operation-raw"
    style = "".join(f"-{kind}" for kind in ("asyncio", "ioredis") if name == kind)
    limit = Limit(raw, 1.10 if language in ("rust", "c") else 1.20)
    over = raw_library or library
    return [
        Subject(family, raw, Role.RAW, language, f"raw-operation{style}", over, operation=CLAIM),
        Subject(
            family,
            own,
            Role.OURS,
            language,
            f"fencepost-operation{style}",
            library,
            (limit,),
            alone=True,
            promise=OPERATION[family],
            operation=CLAIM,
        ),
    ]


def _calls(name: str, language: str, library: str, peer: str, first: float, replay: float) -> list[Subject]:
    """A function that fencepost runs once for each key, and the same with a peer."""
    found = []
    for what, kind, at_most in ((FIRST, "first", first), (REPLAY, "replay", replay)):
        against = f"{peer}-{kind}"
        limit = Limit(against, at_most)
        found += [
            Subject("redis", against, Role.PEER, language, f"peer-{kind}", peer, operation=what),
            Subject(
                "redis",
                f"{name}-{kind}",
                Role.OURS,
                language,
                f"fencepost-{kind}",
                library,
                (limit,),
                operation=what,
            ),
        ]
    return found


def _endpoints(bare: str, ours: str, peer: str) -> list[Subject]:
    """An endpoint: bare, and behind two middlewares. The limit applies to the time that they add."""
    limits = (Limit(peer, 0.50),)
    found = (
        (bare, Role.RAW, "bare", "redis-py", ()),
        (ours, Role.OURS, "fencepost", "redis-py", limits),
        (peer, Role.PEER, "peer", peer, ()),
    )
    return [
        Subject("redis", name, role, "python", f"{whose}-endpoint-asyncio", over, held, operation=ENDPOINT)
        for name, role, whose, over, held in found
    ]


SUBJECTS: tuple[Subject, ...] = (
    *_ours(
        "zookeeper",
        "rust",
        "rust",
        "fencepost",
        "zookeeper-client",
        _curator("mutex"),
        floor=1.3,
        crowd=10_000,
        stand_in="_c_{uuid}-lock-",
    ),
    *_ours(
        "zookeeper",
        "c",
        "c",
        "fencepost",
        "libzookeeper_st",
        _curator("mutex"),
        raw_library="libzookeeper_mt",  # which programs use
        floor=1.3,
    ),
    Subject(
        "zookeeper",
        "c-given",  # on the caller's handle; `connect` uses the library without threads
        Role.OURS,
        "c",
        "fencepost-given",
        "libzookeeper_mt",
        (Limit("c-raw", 1.10),),
    ),
    *_ours("zookeeper", "python", "python", "fencepost", "kazoo", Limit("kazoo-lock", 0.70)),
    Subject(
        "zookeeper",
        "python-given",  # on the caller's KazooClient; `connect` makes one with a faster handler
        Role.OURS,
        "python",
        "fencepost-given",
        "kazoo",
        (Limit("python-raw", 1.15), Limit("kazoo-lock", 0.70)),
    ),
    *_ours("zookeeper", "asyncio", "python", "fencepost-asyncio", "kazoo"),
    *_ours("zookeeper", "javascript", "javascript", "fencepost", "node-zookeeper-client"),
    # A writer behind a writer lists once more, because a writer of Curator may have become a reader.
    *_ours(
        "zookeeper",
        "rust-write",
        "rust",
        "fencepost-write",
        "zookeeper-client",
        _curator("write"),
        promise=Promise(requests=3, flights=2, between=1),
    ),
    *_ours(
        "zookeeper", "rust-read", "rust", "fencepost-read", "zookeeper-client", _curator("read"), alone=True
    ),
    Subject(
        "zookeeper",
        "rust-semaphore",
        Role.OURS,
        "rust",
        "fencepost-semaphore",
        "zookeeper-client",
        (_curator("semaphore"),),
        promise=SEMAPHORE,
    ),
    # One node and no queue: the cheapest lock, except with many waiters, which all wake at each release.
    Subject(
        "zookeeper",
        "rust-single",
        Role.OURS,
        "rust",
        "fencepost-single",
        "zookeeper-client",
        (_curator("mutex"),),
        alone=True,
        promise=Promise(requests=3, flights=2, between=0),
        crowd=1_000,
        crowd_hand_offs=4,
        in_line=False,
    ),
    # Three locks at once: one transaction joins all queues, while Curator acquires one lock after the other.
    Subject(
        "zookeeper",
        "rust-multi",
        Role.OURS,
        "rust",
        "fencepost-multi",
        "zookeeper-client",
        (_curator("multi"),),
        alone=True,
        promise=MULTI,
        locks=MANY,
    ),
    Subject(
        "zookeeper",
        "rust-election",
        Role.OURS,
        "rust",
        "fencepost-election",
        "zookeeper-client",
        (_curator("election"),),
    ),
    *(_other(f"c-{kind}", "c", "libzookeeper_st", kind, _curator(kind)) for kind in OTHERS),
    *(_other(f"python-{kind}", "python", "kazoo", kind, Limit(f"kazoo-{kind}", 0.70)) for kind in OTHERS),
    Subject(
        "zookeeper",
        "kazoo-lock",
        Role.PEER,
        "python",
        "peer",
        "kazoo",
        crowd=1_000,
        stand_in="{hex}__lock__",
    ),
    *(
        Subject("zookeeper", f"kazoo-{kind}", Role.PEER, "python", f"peer-{kind}", "kazoo", alone=True)
        for kind in OTHERS
    ),
    Subject(
        "zookeeper", "curator", Role.PEER, "java", "mutex", "curator", crowd=1_000, stand_in="_c_{uuid}-lock-"
    ),
    Subject("zookeeper", "curator-write", Role.PEER, "java", "write", "curator"),
    Subject("zookeeper", "curator-read", Role.PEER, "java", "read", "curator", alone=True),
    Subject("zookeeper", "curator-semaphore", Role.PEER, "java", "semaphore", "curator"),
    Subject("zookeeper", "curator-multi", Role.PEER, "java", "multi", "curator", alone=True, locks=MANY),
    Subject("zookeeper", "curator-election", Role.PEER, "java", "election", "curator"),
    Subject("zookeeper", "floor", Role.FLOOR, "c", "floor", "libzookeeper_mt"),
    *_ours("redis", "rust", "rust", "fencepost", "redis"),
    *_ours("redis", "c", "c", "fencepost", "hiredis"),
    *_ours("redis", "python", "python", "fencepost", "redis-py"),
    *_ours("redis", "asyncio", "python", "fencepost-asyncio", "redis-py"),
    *_ours("redis", "node-redis", "javascript", "fencepost", "node-redis"),
    *_ours("redis", "ioredis", "javascript", "fencepost-ioredis", "ioredis"),
    Subject("redis", "redis-py-lock", Role.PEER, "python", "peer", "redis-py"),
    Subject("redis", "redis-py-lock-asyncio", Role.PEER, "python", "peer-asyncio", "redis-py"),
    Subject("redis", "floor", Role.FLOOR, "c", "floor", "hiredis"),
    *_operation("zookeeper", "rust", "rust", "zookeeper-client"),
    *_operation("zookeeper", "c", "c", "libzookeeper_st", "libzookeeper_mt"),
    *_operation("zookeeper", "python", "python", "kazoo"),
    *_operation("zookeeper", "asyncio", "python", "kazoo"),
    *_operation("zookeeper", "javascript", "javascript", "node-zookeeper-client"),
    *_operation("redis", "rust", "rust", "redis"),
    *_operation("redis", "c", "c", "hiredis"),
    *_operation("redis", "python", "python", "redis-py"),
    *_operation("redis", "asyncio", "python", "redis-py"),
    *_operation("redis", "node-redis", "javascript", "node-redis"),
    *_operation("redis", "ioredis", "javascript", "ioredis"),
    *_calls("python", "python", "redis-py", "powertools-python", first=0.6, replay=0.35),
    *_calls("node-redis", "javascript", "node-redis", "powertools-typescript", first=1.0, replay=0.5),
    *_endpoints("endpoint", "asgi-endpoint", "asgi-idempotency-header"),
)

NAMES = sorted({subject.name for subject in SUBJECTS})


def chosen(families: Sequence[str], names: Iterable[str] | None) -> list[Subject]:
    """The subjects of these families and names, and the subjects that they are compared with."""
    here = [subject for subject in SUBJECTS if subject.family in families]
    if names is None:
        return here
    wanted = set(names)
    unknown = sorted(wanted - {subject.name for subject in here})
    if unknown:
        known = ", ".join(sorted({subject.name for subject in here}))
        raise Complaint(f"no subject {', '.join(unknown)} for {' and '.join(families)}; there are: {known}")
    for subject in here:
        if subject.name in wanted:
            wanted.update(limit.against for limit in subject.limits)
            wanted.update(["floor"] if subject.floor else [])
            wanted.update(["endpoint"] if subject.operation == ENDPOINT else [])
    return [subject for subject in here if subject.name in wanted]
