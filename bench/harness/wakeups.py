"""Readers and writers: how many watch events each gets, counted by the proxies in front of their sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from .complaint import Complaint
from .crowd import Crowd
from .directory import Directory
from .servers import Control, Proxy, server_address
from .subjects import Subject

#: Readers or writers before the one that waits.
AHEAD = 10
#: The name under which fencepost's reader and writer are listed.
OURS = "fencepost"
PAIRS = {
    OURS: ("rust-read", "rust-write"),
    "curator": ("curator-read", "curator-write"),
    "kazoo": ("kazoo-read", "kazoo-write"),
}


@dataclass(frozen=True)
class Wakeups:
    """Watch events for others' nodes (wake-ups) that a client got until it held the lock."""

    #: A writer behind this many readers, which leave in the order in which they came, or in reverse.
    ahead: int
    writer: int
    writer_at_worst: int
    #: A reader behind this many writers.
    reader: int
    #: One release of a writer, while this many readers wait, and a writer behind them.
    readers: int
    bystander: int


def measure(
    subjects: Sequence[Subject], control: Control, lock: str, say: Callable[[str], None]
) -> dict[str, Wakeups]:
    """One library after the other, if both its reader and its writer were selected."""
    known = {subject.name: subject for subject in subjects}
    results = {}
    for library, (reader, writer) in PAIRS.items():
        if reader in known and writer in known:
            say(library)
            pair = _Pair(known[reader], known[writer], control, f"{lock}-{library}")
            results[library] = pair.measure()
    return results


class _Pair:
    """A reader's and a writer's subject."""

    def __init__(self, reader: Subject, writer: Subject, control: Control, lock: str) -> None:
        self._subjects: Mapping[str, Subject] = {"reader": reader, "writer": writer}
        self._control = control
        self._lock = lock
        self._address = server_address(reader.family)

    def measure(self) -> Wakeups:
        """All of it."""
        return Wakeups(
            AHEAD,
            self._one_behind("writer", "reader", list(range(AHEAD))),
            self._one_behind("writer", "reader", list(range(AHEAD))[::-1]),
            self._one_behind("reader", "writer", list(range(AHEAD))),
            *self._released(),
        )

    def _one_behind(self, one: str, others: str, order: Sequence[int]) -> int:
        """How often one contender is woken while those before it leave in this order."""
        with self._crowds(f"{one}-{order[0]}", others, one) as (directory, (before, (behind, proxy))):
            many = before[0]
            for number in range(AHEAD):
                many.join()
                directory.filled(number + 1)
            behind.join()
            directory.filled(AHEAD + 1)
            directory.settled()
            proxy.forget()
            woken = 0
            for left, number in enumerate(order):
                many.release(number)
                directory.settled()
                woken = proxy.counts().events
                if left + 1 < AHEAD and behind.held():
                    raise Complaint(f"{self._subjects[one]} holds the lock together with others")
            behind.holding(1)
            return woken

    def _released(self) -> tuple[int, int]:
        """How many events a writer's release causes: for the readers that get the lock, for the writer
        behind.
        """
        with self._crowds("release", "writer", "reader", "writer") as (directory, crowds):
            (holder, _), (readers, among), (bystander, behind) = crowds
            holder.join()
            holder.holding(1)
            for number in range(AHEAD):
                readers.join()
                directory.filled(number + 2)
            bystander.join()
            directory.filled(AHEAD + 2)
            directory.settled()
            among.forget()
            behind.forget()
            holder.release(0)
            readers.holding(AHEAD)
            directory.settled()
            return among.counts().events, behind.counts().events

    @contextmanager
    def _crowds(self, name: str, *sides: str) -> Iterator[tuple[Directory, list[tuple[Crowd, Proxy]]]]:
        """A directory, and for each side a crowd behind its own proxy."""
        lock = f"{self._lock}-{name}"
        with ExitStack() as stack:
            directory = stack.enter_context(Directory(self._address, lock))
            stack.callback(directory.emptied)
            crowds = []
            for side in sides:
                proxy = stack.enter_context(self._control.proxy(self._subjects[side].family))
                crowd = Crowd(self._subjects[side], proxy.url, lock)
                stack.callback(crowd.close)
                # A session for each reader: two watches of one session on the same node get only one event.
                crowd.open(AHEAD if side == "reader" else 1)
                crowds.append((crowd, proxy))
            yield directory, crowds
