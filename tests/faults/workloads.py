"""Every machine with its contenders: workloads, and queues whose holders do not release."""

from __future__ import annotations

from dataclasses import dataclass

#: fencepost's clients, each in its default layout.
CLIENTS = ("python-curator", "python-threads", "javascript-curator", "rust-curator", "c-curator", "c-mt")


@dataclass(frozen=True)
class Workload:
    """Contenders that take turns with one lock: each is a peer and the kind that it acquires."""

    name: str
    contenders: tuple[tuple[str, str], ...]
    permits: int | None = None
    paths: tuple[str, ...] = ("",)

    def path(self, root: str) -> str:
        """The path, or the paths, of the workload's lock."""
        directory = f"{root}/{self.name}"
        return ",".join(f"{directory}{path}" for path in self.paths)


def _all(kind: str, *peers: str) -> tuple[tuple[str, str], ...]:
    return tuple((peer, kind) for peer in peers)


WORKLOADS = (
    Workload(
        "mutex",
        _all("mutex", "rust-curator", "python-curator", "python-threads", "javascript-curator", "c-curator"),
    ),
    Workload("mutex-kazoo", _all("mutex", "rust-kazoo", "rust-kazoo", "python-kazoo")),
    Workload("mutex-plain", _all("mutex", "rust-plain", "rust-plain", "rust-plain")),
    Workload(
        "read-write",
        (
            *_all("write", "rust-curator", "c-curator"),
            *_all("read", "rust-curator", "javascript-curator"),
        ),
    ),
    Workload("read-write-kazoo", (*_all("write", "rust-kazoo"), *_all("read", "rust-kazoo", "rust-kazoo"))),
    Workload("semaphore", _all("semaphore:2", *("rust-curator",) * 3, "python-curator"), permits=2),
    Workload("semaphore-kazoo", _all("semaphore:2", *("rust-kazoo",) * 3), permits=2),
    # It has no wait queue, so a contender may get it twice in a row.
    Workload("single", _all("single", "rust-curator", "python-curator", "javascript-curator", "c-curator")),
    Workload("leader", _all("leader", "rust-curator", "rust-curator", "javascript-curator")),
    Workload("multi", _all("multi", "rust-curator", "rust-curator", "rust-curator"), paths=("/a", "/b")),
)


@dataclass(frozen=True)
class Queue:
    """A holder of one language, and the locks of the holder and of its waiters."""

    holder: str
    holds: str
    waits: str
    #: How many acquires of the holder fill the lock.
    times: int = 1
    paths: tuple[str, ...] = ("",)

    @property
    def visible(self) -> bool:
        """Whether the server shows the waiters."""
        return self.waits != "single"

    def path(self, root: str) -> str:
        """The path, or the paths, of the queue's lock."""
        directory = f"{root}/{self.holder}-{self.holds}".replace(":", "-").replace("@", "-")
        return ",".join(f"{directory}{path}" for path in self.paths)


QUEUES = (
    *(
        Queue("rust-curator", f"mutex@{layout}", f"mutex@{layout}")
        for layout in ("curator", "kazoo", "plain")
    ),
    *(Queue("rust-curator", f"read@{layout}", f"write@{layout}") for layout in ("curator", "kazoo")),
    *(Queue("rust-curator", f"write@{layout}", f"read@{layout}") for layout in ("curator", "kazoo")),
    *(
        Queue("rust-curator", f"semaphore:2@{layout}", f"semaphore:2@{layout}", times=2)
        for layout in ("curator", "kazoo")
    ),
    Queue("rust-curator", "leader", "leader"),
    Queue("rust-curator", "multi", "multi", paths=("/a", "/b")),
    *(
        Queue(f"{language}-curator", holds, waits)
        for language in ("python", "javascript", "c")
        for holds, waits in (("mutex", "mutex"), ("read", "write"), ("write", "read"), ("leader", "leader"))
    ),
    *(Queue(f"{language}-curator", "single", "single") for language in ("rust", "python", "javascript", "c")),
)
