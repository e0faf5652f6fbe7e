"""Two processes hand one lock to each other: the time from the call of release to the return of acquire."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .complaint import Complaint
from .options import Options
from .servers import server_url
from .stats import median, percentile
from .subjects import Role, Subject
from .workers import Worker

#: How long the waiter has waited when the lock is released, in seconds: long enough that its request was
#: sent. On Redis, it is random over the 100 ms for which pollers sleep, so that every point of their sleep
#: occurs.
SETTLED = {"zookeeper": (0.015, 0.035), "redis": (0.015, 0.115)}
#: Hand-offs of one subject before it is the next one's turn.
BLOCK = 10


@dataclass(frozen=True)
class HandOff:
    """The times of hand-offs, in milliseconds."""

    p50: float
    p99: float
    longest: float
    count: int


def takes_part(subject: Subject) -> bool:
    """A raw client is no lock: it does not wait."""
    return subject.role is not Role.RAW and not subject.alone


def measure(
    subjects: Sequence[Subject], options: Options, lock: str, say: Callable[[str], None]
) -> dict[str, HandOff]:
    """Gives each subject a lock and two processes. The subjects, all of one family, take turns."""
    subjects = [subject for subject in subjects if takes_part(subject)]
    dice = random.Random(options.seed)
    times: dict[str, list[int]] = {subject.name: [] for subject in subjects}
    with ExitStack() as stack:
        pairs = [
            tuple(
                stack.enter_context(Worker(subject, server_url(subject.family), f"{lock}-{subject.name}"))
                for _ in range(2)
            )
            for subject in subjects
        ]
        for pair in pairs:
            say(f"warming up {pair[0].subject.name}")
            if pair[0].subject.role is not Role.FLOOR:
                for worker in pair:
                    worker.warm_up(0.3 * options.warmth)
            to_and_fro(pair, 4, dice)
        done = 0
        while done < options.handoffs:
            say(f"{done} of {options.handoffs}")
            block = min(BLOCK, options.handoffs - done)
            for pair in pairs:
                times[pair[0].subject.name] += to_and_fro(pair, block, dice)
            done += block
    return {
        name: HandOff(median(own) / 1e6, percentile(own, 0.99) / 1e6, max(own) / 1e6, len(own))
        for name, own in times.items()
    }


def to_and_fro(pair: Sequence[Worker], count: int, dice: random.Random) -> list[int]:
    """Hands the lock over `count` times; the nanoseconds of each. No worker holds it before or after."""
    holder, waiter = pair
    least, most = SETTLED[holder.subject.family]
    taken: list[int] = []
    late = 0
    holder.call("acquire")
    while len(taken) < count:
        waiter.send("acquire")
        time.sleep(dice.uniform(least, most))
        released = holder.call("release")
        got = waiter.called()
        if got.returned <= released.called:
            raise Complaint(f"{holder.subject}: two processes held the lock: {got} came before {released}")
        if released.called - got.called > least / 2 * 1e9:
            taken.append(got.returned - released.called)
        else:  # A busy machine: the waiter had hardly begun to wait.
            late += 1
            if late > 5 * count:
                raise Complaint(
                    f"{holder.subject}: its process reads a command only after {least * 500:g} ms"
                )
        holder, waiter = waiter, holder
    holder.call("release")
    return taken
