"""The cost of one acquire + release without another contender."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from .options import Options
from .servers import server_url
from .stats import Spread, median, percentile, ratios
from .subjects import ENDPOINT, Role, Subject
from .workers import Worker

T = TypeVar("T")


@dataclass(frozen=True)
class Uncontended:
    """The times of one subject's acquire + release, in microseconds."""

    p50: float
    p99: float
    #: The median of each round of each sitting, from which `ratios` are computed.
    rounds: list[list[float]]
    #: The time divided by that of the other subject, by the other's name.
    ratios: dict[str, Spread]


#: By the subject's name: sittings of rounds of nanoseconds.
Times = dict[str, list[list[list[int]]]]


def takes_part(subject: Subject) -> bool:
    """Whether the subject can be acquired. A floor is no lock."""
    return subject.role is not Role.FLOOR


def companies(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """Groups subjects that are compared with each other, so that their turns are close in time."""
    found: list[list[Subject]] = []
    for subject in subjects:
        names = _linked(subject)
        joined = [own for own in found if any(names & _linked(each) for each in own)]
        found = [own for own in found if own not in joined]
        found.append([*(each for own in joined for each in own), subject])
    place = {subject.name: number for number, subject in enumerate(subjects)}
    return [sorted(own, key=lambda subject: place[subject.name]) for own in found]


def _linked(subject: Subject) -> set[str]:
    # The times of all endpoints are compared with each other.
    return {
        subject.name,
        *(limit.against for limit in subject.limits),
        *([ENDPOINT] if subject.operation == ENDPOINT else []),
    }


def measure(
    subjects: Sequence[Subject],
    options: Options,
    lock: str,
    say: Callable[[str], None],
) -> dict[str, Uncontended]:
    """Gives each subject a lock of its own. The subjects of a group, all of one family, take turns.

    Each sitting starts new processes, because some effects last as long as a process: the layout of its
    memory, the compiled code, the state of its connection.
    """
    subjects = [subject for subject in subjects if takes_part(subject)]
    times: Times = {subject.name: [] for subject in subjects}
    for rounds in sittings(options):
        for company in companies(subjects):
            sit(company, rounds, options, lock, say, times)
    return summary(subjects, times)


def sittings(options: Options) -> Iterator[range]:
    """The rounds of each sitting."""
    ends = [options.rounds * sitting // options.sittings for sitting in range(options.sittings + 1)]
    for first, last in pairwise(ends):
        if first < last:
            yield range(first, last)


def sit(
    company: Sequence[Subject],
    rounds: range,
    options: Options,
    lock: str,
    say: Callable[[str], None],
    times: Times,
) -> None:
    """One sitting: some rounds with the same processes."""
    for subject in company:
        times[subject.name].append([])
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(subject, server_url(subject.family), f"{lock}-{subject.name}"))
            for subject in company
        ]
        for worker in workers:
            say(f"warming up {worker.subject.name}")
            worker.warm_up(options.warmth)
        for number in rounds:
            say(f"{', '.join(subject.name for subject in company)}: round {number + 1}")
            for worker in order(workers, number):
                times[worker.subject.name][-1].append(worker.cycle(options.cycles))


def order(workers: Sequence[T], number: int) -> list[T]:
    """The order changes from round to round. A subject and its raw client stay next to each other."""
    start = number // 2 % len(workers) if workers else 0
    turned = [*workers[start:], *workers[:start]]
    return turned[::-1] if number % 2 else turned


def summary(subjects: Sequence[Subject], times: Times) -> dict[str, Uncontended]:
    """Computes the results from nanoseconds, by sitting and round."""
    rounds = {
        name: [[median(times) / 1e3 for times in sitting] for sitting in own] for name, own in times.items()
    }
    return {
        subject.name: Uncontended(
            p50=median(flat(times[subject.name])) / 1e3,
            p99=percentile(flat(times[subject.name]), 0.99) / 1e3,
            rounds=rounds[subject.name],
            ratios={
                limit.against: ratios(rounds[subject.name], rounds[limit.against]) for limit in subject.limits
            },
        )
        for subject in subjects
    }


def flat(sittings: Sequence[Sequence[Sequence[int]]]) -> list[int]:
    """All rounds in one."""
    return [time for rounds in sittings for own in rounds for time in own]
