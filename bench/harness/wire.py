"""Requests on the wire, counted by a proxy in front of the server. The proxy makes times meaningless here."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .complaint import Complaint
from .servers import Control, Counts, Proxy
from .stats import median
from .subjects import Role, Subject
from .workers import Worker

#: At least this many cycles are counted, one by one. The flights are those of the cycle with the fewest: if
#: the system interrupts a sender between two requests that belong together, one flight becomes two. More
#: cycles follow until two of them have the fewest flights.
CYCLES, QUICK_CYCLES, MOST_CYCLES = 50, 10, 400
#: Cycles before the measurement, which make the directory and load the scripts.
WARM = 10
HAND_OFFS, QUICK_HAND_OFFS = 7, 3
#: A waiter that sends nothing for this many seconds has sent all its requests. On Redis it polls every 100
#: ms.
QUIET = {"zookeeper": 0.1, "redis": 0.04}
LIMIT = 10.0


@dataclass(frozen=True)
class Wire:
    """Requests and flights of an acquire + release without other contenders, and of a hand-off."""

    requests: float
    flights: float
    #: The requests of all cycles, by kind.
    kinds: dict[str, int]
    cycles: int
    #: Of both processes, from the waiter's call of acquire to its return, including the other's release.
    handoff_requests: float | None
    #: Of the waiter, from the call of release to its grant, without confirmations; one number per hand-off.
    handoff_waiter: list[int] | None
    #: Session confirmations among them.
    handoff_confirmations: int | None


def takes_part(subject: Subject) -> bool:
    """A floor is no lock."""
    return subject.role is not Role.FLOOR


def measure(
    subjects: Sequence[Subject], control: Control, quick: bool, lock: str, say: Callable[[str], None]
) -> dict[str, Wire]:
    """One subject after the other."""
    results = {}
    for subject in subjects:
        if takes_part(subject):
            say(subject.name)
            results[subject.name] = one(subject, control, quick, f"{lock}-{subject.name}")
    return results


def one(subject: Subject, control: Control, quick: bool, lock: str) -> Wire:
    """One subject."""
    with ExitStack() as stack:
        proxies = [stack.enter_context(control.proxy(subject.family)) for _ in range(2)]
        least = QUICK_CYCLES if quick else CYCLES
        with Worker(subject, proxies[0].url, f"{lock}-alone") as first:
            first.cycle(WARM)
            alone = summary(cycles(lambda: cycle(first, proxies[0]), least), least)
        if subject.role is Role.RAW or subject.alone:
            return Wire(*alone, None, None, None)
        pair = [stack.enter_context(Worker(subject, proxy.url, f"{lock}-pair")) for proxy in proxies]
        return Wire(*alone, *hand_offs(pair, proxies, QUICK_HAND_OFFS if quick else HAND_OFFS))


def cycles(count: Callable[[], Counts], least: int) -> list[Counts]:
    """`least` cycles, and more until two of them have the fewest flights."""
    seen = [count() for _ in range(least)]
    while len(seen) < MOST_CYCLES:
        fewest, second = sorted(counts.flights for counts in seen)[:2]
        if fewest == second:
            break
        seen.append(count())
    return seen


def summary(counts: Sequence[Counts], least: int) -> tuple[float, float, dict[str, int], int]:
    """The first four fields of `Wire`: those of `least` cycles, and the fewest flights of all."""
    kinds: Counter[str] = Counter()
    for each in counts[:least]:
        kinds.update(each.kinds)
    return kinds.total() / least, min(each.flights for each in counts), dict(kinds), least


def cycle(worker: Worker, proxy: Proxy) -> Counts:
    """Counts a cycle without a session confirmation, which occurs every few seconds."""
    for _ in range(10):
        proxy.forget()
        worker.cycle(1)
        counts = proxy.counts()
        if counts.confirmations == 0:
            return counts
    raise Complaint(f"{worker.subject}: confirms its session in every cycle: {counts.kinds}")


def hand_offs(pair: Sequence[Worker], proxies: Sequence[Proxy], count: int) -> tuple[float, list[int], int]:
    """Hands the lock back and forth; returns the last three fields of `Wire`."""
    for worker in pair:
        worker.cycle(1)
    whole, waiters, confirmations = [], [], 0
    holder, waiter = 0, 1
    pair[holder].call("acquire")
    for _ in range(count):
        for proxy in proxies:
            proxy.forget()
        pair[waiter].send("acquire")
        asked = settled(proxies[waiter], QUIET[pair[waiter].subject.family])
        pair[holder].call("release")
        pair[waiter].called()
        seen = proxies[waiter].counts()
        confirmed = seen.confirmations - asked.confirmations
        waiters.append(seen.requests - asked.requests - confirmed)
        confirmations += confirmed
        whole.append(sum(count.requests - count.confirmations for count in (seen, proxies[holder].counts())))
        holder, waiter = waiter, holder
    pair[holder].call("release")
    return median(whole), waiters, confirmations


def settled(proxy: Proxy, quiet: float) -> Counts:
    """Waits until the waiter has sent its requests, and then nothing for a while."""
    deadline = time.monotonic() + LIMIT
    since, before = time.monotonic(), proxy.counts()
    while time.monotonic() < deadline:
        time.sleep(0.002)
        now = proxy.counts()
        if now.requests != before.requests:
            since, before = time.monotonic(), now
        elif before.requests and time.monotonic() - since > quiet:
            return before
    raise Complaint("a waiter that should be waiting still sends requests, or has never sent one")
