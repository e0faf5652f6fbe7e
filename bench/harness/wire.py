"""What goes over the wire, counted by a proxy before the server. Times taken here would mean nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .complaint import Complaint
from .servers import Control, Counts, Proxy
from .stats import median
from .subjects import Role, Subject
from .workers import Worker

CYCLES = 10
#: Windows of so many cycles, and hand-offs. The window with the fewest flights counts: where a sender is
#: interrupted between two requests that belong together, they become two flights. On a busy machine that
#: happens in most windows, so a fewest number counts when it has been seen twice.
WINDOWS, QUICK_WINDOWS, MOST_WINDOWS = 5, 4, 40
HAND_OFFS, QUICK_HAND_OFFS = 7, 3
#: A waiter that is quiet for so long, in seconds, has asked all it has to. On Redis it polls every 100 ms.
QUIET = {"zookeeper": 0.1, "redis": 0.04}
LIMIT = 10.0


@dataclass(frozen=True)
class Wire:
    """Requests and flights: of an acquire + release that no other contender disturbs, and of a hand-off."""

    requests: float
    flights: float
    #: The kinds of requests, of all cycles.
    kinds: dict[str, int]
    cycles: int
    #: Of both processes, from the waiter's call of acquire to its return, the other's release included.
    handoff_requests: float | None
    #: Of the waiter, from the call of release to its grant, without confirmations: one number a hand-off.
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
        with Worker(subject, proxies[0].url, f"{lock}-alone") as first:
            first.cycle(CYCLES)  # warm-up: the directory, the scripts
            counts = fewest_flights(lambda: cycles(first, proxies[0]), QUICK_WINDOWS if quick else WINDOWS)
        alone = (counts.requests / CYCLES, counts.flights / CYCLES, counts.kinds, CYCLES)
        if subject.role is Role.RAW or subject.alone:
            return Wire(*alone, None, None, None)
        pair = [stack.enter_context(Worker(subject, proxy.url, f"{lock}-pair")) for proxy in proxies]
        return Wire(*alone, *hand_offs(pair, proxies, QUICK_HAND_OFFS if quick else HAND_OFFS))


def fewest_flights(window: Callable[[], Counts], least: int) -> Counts:
    """The window with the fewest flights, of `least` windows and until a second window has as few."""
    seen: list[Counts] = []
    while len(seen) < MOST_WINDOWS:
        seen.append(window())
        seen.sort(key=lambda counts: counts.flights)
        if len(seen) >= least and seen[0].flights == seen[1].flights:
            break
    return seen[0]


def cycles(worker: Worker, proxy: Proxy) -> Counts:
    """Counts a window into which no session confirmation has come: they come every few seconds."""
    for _ in range(10):
        proxy.forget()
        worker.cycle(CYCLES)
        counts = proxy.counts()
        if counts.confirmations == 0:
            return counts
    raise Complaint(f"{worker.subject}: confirms its session in every one of {CYCLES} cycles: {counts.kinds}")


def hand_offs(pair: Sequence[Worker], proxies: Sequence[Proxy], count: int) -> tuple[float, list[int], int]:
    """Hands the lock to and fro; the last three fields of `Wire`."""
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
    """Waits until the waiter has asked, and has been quiet for a while."""
    deadline = time.monotonic() + LIMIT
    since, before = time.monotonic(), proxy.counts()
    while time.monotonic() < deadline:
        time.sleep(0.002)
        now = proxy.counts()
        if now.requests != before.requests:
            since, before = time.monotonic(), now
        elif before.requests and time.monotonic() - since > quiet:
            return before
    raise Complaint("a waiter that should be waiting goes on asking, or has never asked")
