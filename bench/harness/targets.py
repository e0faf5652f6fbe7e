"""The targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .many import Many
from .results import Family, Verdict
from .stats import median
from .subjects import ENDPOINT, Promise, Role, Subject
from .wakeups import OURS, Wakeups
from .wire import Wire

#: ZooKeeper: create and children together, then delete. Redis: two scripts.
PROMISES = {
    "zookeeper": Promise(requests=3, flights=2, between=0),
    "redis": Promise(requests=2, flights=2, between=0),
}

#: The requests of a hand-off in a long queue: a delete, and the next contender's list.
IN_LINE = 2
#: The flights of an inspection: the list, then all contenders.
LOOK = 2

#: With many tasks, the least rate as a share of the raw client's, by language.
SHARE = {"rust": 0.87, "c": 0.87, "python": 1.0, "javascript": 0.80}
#: The limit for the processor time of a cycle with the most tasks, divided by that with few. If tasks are
#: threads, thread switches take more time with more threads, so the limit is relative to the raw client's
#: growth.
FEW_TASKS, MOST_TASKS, CPU = 16, 2_000, 1.3
THREADS = ("c",)


def verdicts(families: Mapping[str, Family]) -> Iterator[Verdict]:
    """Yields a verdict for each target of each measured subject."""
    for name, family in families.items():
        if OURS in family.wakeups:
            yield from _woken(name, family.wakeups[OURS])
        if family.crowd is not None:
            crowd = family.crowd
            for target, value in (
                (
                    f"operations of {crowd.keys} keys that have not run once",
                    abs(crowd.executions - crowd.keys),
                ),
                ("... and wrong answers", len(crowd.wrong)),
            ):
                yield Verdict(name, "crowd", target, value, 0, asserted=True)
        for subject in family.subjects:
            if subject.role is not Role.OURS:
                continue
            if subject.name in family.wire:
                yield from _wire(name, subject, family.wire[subject.name])
            if subject.in_line:
                for queue in family.queue.get(subject.name, []):
                    target = f"requests of a hand-off, {queue.contenders} in the queue"
                    yield Verdict(name, subject.name, target, queue.requests, IN_LINE, asserted=True)
            for look in family.contenders.get(subject.name, []):
                target = f"flights of asking who contends, {look.contenders} in the queue"
                yield Verdict(name, subject.name, target, look.flights, LOOK, asserted=True)
            if subject.name in family.uncontended:
                measured = family.uncontended[subject.name].ratios
                for limit in subject.limits:
                    target = f"acquire + release, times {limit.against}"
                    ratio = measured[limit.against].median
                    yield Verdict(name, subject.name, target, ratio, limit.at_most, asserted=False)
            yield from _operations(name, subject, family)
            yield from _many(name, subject, family.many)
            floor = family.handoff.get("floor")
            if subject.floor and floor and subject.name in family.handoff:
                ratio = family.handoff[subject.name].p50 / floor.p50
                yield Verdict(
                    name, subject.name, "hand-off, times floor", ratio, subject.floor, asserted=False
                )


def _operations(name: str, subject: Subject, family: Family) -> Iterator[Verdict]:
    if subject.operation == ENDPOINT:
        yield from _added(name, subject, family)
    elif subject.name in family.operations:
        measured = family.operations[subject.name].ratios
        for limit in subject.limits:
            target = f"{subject.operation}, times {limit.against}"
            ratio = measured[limit.against].median
            yield Verdict(name, subject.name, target, ratio, limit.at_most, asserted=False)
    if subject.name in family.operations_wire and subject.promise is not None:
        wire, promise = family.operations_wire[subject.name], subject.promise
        for what, value, at_most in (
            ("requests", wire.requests, promise.requests),
            ("flights", wire.flights, promise.flights),
        ):
            yield Verdict(name, subject.name, f"{what} of claim + complete", value, at_most, asserted=True)


def _added(name: str, subject: Subject, family: Family) -> Iterator[Verdict]:
    """The time that a middleware adds to the bare endpoint."""
    times = family.operations
    bare = [each.name for each in family.subjects if each.operation == ENDPOINT and each.role is Role.RAW]
    for limit in subject.limits:
        if {subject.name, limit.against, *bare} <= times.keys() and bare:
            ours, peer = (times[each].p50 - times[bare[0]].p50 for each in (subject.name, limit.against))
            target = f"time added to a request, times {limit.against}"
            yield Verdict(name, subject.name, target, ours / peer, limit.at_most, asserted=False)


def _many(family: str, subject: Subject, measured: Mapping[str, Sequence[Many]]) -> Iterator[Verdict]:
    raw = f"{subject.name}-raw"
    many = measured.get(subject.name, [])
    for each in many:
        if raw in each.ratios:
            # The rate of n tasks is the inverse of the time of a cycle, so the share of the rate becomes a
            # limit on the time.
            target = f"a cycle of {each.tasks} tasks, times {raw}"
            at_most = 1 / SHARE[subject.language]
            yield Verdict(family, subject.name, target, each.ratios[raw].median, at_most, asserted=False)
    growth = _growth(many)
    if growth is None:
        return
    target = f"processor time of a cycle, {MOST_TASKS} tasks over {FEW_TASKS}"
    if subject.language in THREADS:
        of_raw = _growth(measured.get(raw, []))
        if of_raw is None:
            return
        growth, target = growth / of_raw, f"{target}, times {raw}"
    yield Verdict(family, subject.name, target, growth, CPU, asserted=False)


def _growth(many: Sequence[Many]) -> float | None:
    cpu = {each.tasks: each.cpu for each in many}
    return cpu[MOST_TASKS] / cpu[FEW_TASKS] if FEW_TASKS in cpu and MOST_TASKS in cpu else None


def _woken(family: str, wakeups: Wakeups) -> Iterator[Verdict]:
    ahead = wakeups.ahead
    for subject, target, value, at_most in (
        ("rust-write", f"wake-ups of a writer behind {ahead} readers", wakeups.writer_at_worst, ahead),
        ("rust-write", "... that leave in order", wakeups.writer, 1),
        ("rust-read", f"wake-ups of a reader behind {ahead} writers", wakeups.reader, 1),
        ("rust-read", f"wake-ups of {ahead} readers as a writer leaves", wakeups.readers, ahead),
        ("rust-write", "... and of the writer behind them", wakeups.bystander, 0),
    ):
        yield Verdict(family, subject, target, value, at_most, asserted=True)


def _wire(family: str, subject: Subject, wire: Wire) -> Iterator[Verdict]:
    promise = subject.promise or PROMISES[family]
    yield Verdict(
        family, subject.name, "requests of acquire + release", wire.requests, promise.requests, asserted=True
    )
    yield Verdict(
        family, subject.name, "flights of acquire + release", wire.flights, promise.flights, asserted=True
    )
    if family == "zookeeper" and wire.handoff_waiter is not None:
        between = median(wire.handoff_waiter)
        yield Verdict(
            family,
            subject.name,
            "requests between watch event and grant",
            between,
            promise.between,
            asserted=True,
        )
        # One of the session's regular confirmations may occur during a hand-off. No hand-off needs one.
        confirmations = wire.handoff_confirmations or 0
        yield Verdict(family, subject.name, "confirmations in all hand-offs", confirmations, 1, asserted=True)
