"""The cost of a list of all holders and waiters, by the length of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .complaint import Complaint
from .crowd import Crowd
from .directory import Directory
from .options import Options
from .queues import SESSIONS, milliseconds
from .servers import Control, server_address, server_url
from .stats import median, percentile
from .subjects import Subject

#: The subjects whose library lists the contenders with their identifiers. Curator returns only the names of
#: nodes.
ASKED = ("rust", "kazoo-lock")
#: The longest queue that all subjects can form in reasonable time.
LONGEST = 1_000
LOOKS, QUICK_LOOKS = 30, 5


@dataclass(frozen=True)
class Look:
    """Inspections of a lock with this many contenders, by one of them."""

    contenders: int
    #: From the call to its return, in milliseconds, without a proxy.
    p50: float
    p99: float
    #: The inspection with the fewest, without pings and session confirmations.
    requests: int
    flights: int
    count: int


def measure(
    subjects: Sequence[Subject], options: Options, control: Control, lock: str, say: Callable[[str], None]
) -> dict[str, list[Look]]:
    """One subject after the other, each twice: with a proxy that counts, and without one for the times."""
    results = {}
    lengths = [length for length in options.lengths if length <= LONGEST]
    looks = QUICK_LOOKS if options.quick else LOOKS
    for subject in (each for each in subjects if each.name in ASKED and each.family == "zookeeper"):
        say(subject.name)
        with control.proxy(subject.family) as proxy:
            counted: dict[int, tuple[int, int]] = {}
            for length, crowd in _crowds(subject, proxy.url, f"{lock}-{subject.name}-c", lengths):
                windows = []
                for _ in range(looks):
                    proxy.forget()
                    crowd.look(1, length)
                    counts = proxy.counts()
                    windows.append((counts.flights, counts.requests - counts.confirmations))
                flights, requests = min(windows)
                counted[length] = (requests, flights)
        url = server_url(subject.family)
        timed = {
            length: milliseconds(crowd.look(looks, length))
            for length, crowd in _crowds(subject, url, f"{lock}-{subject.name}-t", lengths)
        }
        results[subject.name] = [
            Look(length, median(times), percentile(times, 0.99), *counted[length], looks)
            for length, times in timed.items()
        ]
    return results


def _crowds(subject: Subject, url: str, lock: str, lengths: Sequence[int]) -> Iterator[tuple[int, Crowd]]:
    """One crowd, which grows to each length in turn."""
    with ExitStack() as stack:
        directory = stack.enter_context(Directory(server_address(subject.family), lock))
        stack.callback(directory.emptied)
        crowd = Crowd(subject, url, lock)
        stack.callback(crowd.close)
        crowd.open(SESSIONS)
        for length in lengths:
            while missing := length - crowd.joined:
                crowd.join(min(100, missing))
                directory.filled(crowd.joined)
            directory.settled(length - 1)
            if (held := crowd.held()) != 1:
                raise Complaint(f"{subject}: {held} of {length} hold the lock")
            yield length, crowd
