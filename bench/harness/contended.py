"""Eight processes contend for one lock, and hold it for 2 ms: the throughput, and the longest wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise

from .servers import server_url
from .stats import median, percentile
from .subjects import Role, Subject
from .workers import Hold, Worker

CLIENTS = 8
HOLD_MICROSECONDS = 2_000


@dataclass(frozen=True)
class Contended:
    """The results; times in milliseconds."""

    per_second: float
    p50: float
    p99: float
    longest: float
    #: How long the lock was really held: a language's timers may take longer than requested.
    held: float
    #: How many grants each process got.
    shares: list[int]
    #: How often two processes held the lock at once, by their own clocks. If it is not 0, the lock failed.
    overlaps: int


def takes_part(subject: Subject) -> bool:
    """Whether the subject is a lock with hand-offs."""
    return subject.role in (Role.OURS, Role.PEER) and not subject.alone


def measure(
    subjects: Sequence[Subject], seconds: float, lock: str, say: Callable[[str], None]
) -> dict[str, Contended]:
    """One subject after the other: eight busy processes already use both cores."""
    results = {}
    for subject in subjects:
        if takes_part(subject):
            say(subject.name)
            results[subject.name] = one(subject, seconds, f"{lock}-{subject.name}")
    return results


def one(subject: Subject, seconds: float, lock: str) -> Contended:
    """One subject."""
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(subject, server_url(subject.family), lock)) for _ in range(CLIENTS)
        ]
        for worker in workers:
            worker.ready()
            worker.warm_up(0.05)
        for worker in workers:
            worker.send(f"contend {round(seconds * 1000)} {HOLD_MICROSECONDS}")
        return summary([worker.contended(seconds) for worker in workers], seconds)


def summary(turns: Sequence[Sequence[Hold]], seconds: float) -> Contended:
    """Computes the results from the turns of each process. Throughput counts while all of them contend."""
    every = sorted((turn for own in turns for turn in own), key=lambda turn: turn.granted)
    start = max(own[0].called for own in turns)
    end = min(own[0].called for own in turns) + seconds * 1e9
    within = [turn for turn in every if start <= turn.granted < end]
    waits = [(turn.granted - turn.called) / 1e6 for turn in every]
    return Contended(
        per_second=len(within) / ((end - start) / 1e9),
        p50=median(waits),
        p99=percentile(waits, 0.99),
        longest=max(waits),
        held=median([(turn.released - turn.granted) / 1e6 for turn in every]),
        shares=[len(own) for own in turns],
        overlaps=sum(later.granted < earlier.released for earlier, later in pairwise(every)),
    )
