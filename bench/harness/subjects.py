"""Who is measured: one row a subject. To add one, add a row here and its kind to the language's worker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .complaint import Complaint

FAMILIES = ("zookeeper", "redis")


class Role(Enum):
    """Why a subject takes part."""

    OURS = "ours"
    RAW = "raw"  # the client library alone, with the same requests in the same flights
    PEER = "peer"  # another lock, over the same client library or one of its own
    FLOOR = "floor"  # the server's own news, without any lock: what no hand-off can be faster than


@dataclass(frozen=True)
class Limit:
    """A ratio that a subject must not exceed."""

    against: str
    at_most: float


@dataclass(frozen=True)
class Promise:
    """What goes over the wire at most."""

    #: Of one acquire + release.
    requests: int
    flights: int
    #: Of a waiter, between the watch event and its grant.
    between: int


@dataclass(frozen=True)
class Subject:
    """One way to take a lock. The `kind` is the first argument of the language's worker."""

    family: str
    name: str
    role: Role
    language: str
    kind: str
    library: str
    limits: tuple[Limit, ...] = ()
    #: Several may hold it at once: it is measured alone, as it is handed over to nobody.
    shared: bool = False
    #: What is counted on the wire, if it is not what the family has.
    promise: Promise | None = None

    def __str__(self) -> str:
        return f"{self.family}/{self.name}"


def _ours(
    family: str,
    name: str,
    language: str,
    kind: str,
    library: str,
    *limits: Limit,
    shared: bool = False,
    promise: Promise | None = None,
) -> list[Subject]:
    """A subject of ours, and the raw client that it is held against."""
    raw = f"{name}-raw"
    at_most = 1.10 if language in ("rust", "c") else 1.15
    suffix = kind.removeprefix("fencepost")
    own = (Limit(raw, at_most), *limits)
    return [
        Subject(family, raw, Role.RAW, language, f"raw{suffix}", library, shared=shared),
        Subject(family, name, Role.OURS, language, kind, library, own, shared=shared, promise=promise),
    ]


SUBJECTS: tuple[Subject, ...] = (
    *_ours("zookeeper", "rust", "rust", "fencepost", "zookeeper-client"),
    *_ours("zookeeper", "c", "c", "fencepost", "libzookeeper_mt"),
    *_ours("zookeeper", "python", "python", "fencepost", "kazoo", Limit("kazoo-lock", 0.70)),
    Subject(
        "zookeeper",
        "python-given",  # on the caller's own KazooClient, where `connect` makes one with a quicker handler
        Role.OURS,
        "python",
        "fencepost-given",
        "kazoo",
        (Limit("python-raw", 1.15), Limit("kazoo-lock", 0.70)),
    ),
    *_ours("zookeeper", "asyncio", "python", "fencepost-asyncio", "kazoo"),
    *_ours("zookeeper", "javascript", "javascript", "fencepost", "node-zookeeper-client"),
    # A writer behind a writer lists once more: Curator's may have gone on as a reader.
    *_ours(
        "zookeeper",
        "rust-write",
        "rust",
        "fencepost-write",
        "zookeeper-client",
        promise=Promise(requests=3, flights=2, between=1),
    ),
    *_ours("zookeeper", "rust-read", "rust", "fencepost-read", "zookeeper-client", shared=True),
    # A place in the line, then a permit, as Curator does it.
    Subject(
        "zookeeper",
        "rust-semaphore",
        Role.OURS,
        "rust",
        "fencepost-semaphore",
        "zookeeper-client",
        (Limit("curator-semaphore", 1.00),),
        promise=Promise(requests=7, flights=6, between=2),
    ),
    Subject("zookeeper", "kazoo-lock", Role.PEER, "python", "peer", "kazoo"),
    Subject("zookeeper", "curator", Role.PEER, "java", "mutex", "curator"),
    Subject("zookeeper", "curator-write", Role.PEER, "java", "write", "curator"),
    Subject("zookeeper", "curator-read", Role.PEER, "java", "read", "curator", shared=True),
    Subject("zookeeper", "curator-semaphore", Role.PEER, "java", "semaphore", "curator"),
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
)

NAMES = sorted({subject.name for subject in SUBJECTS})


def chosen(families: Sequence[str], names: Iterable[str] | None) -> list[Subject]:
    """The subjects of these families and names. A subject brings along what it is held against."""
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
    return [subject for subject in here if subject.name in wanted]
