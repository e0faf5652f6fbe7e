"""A long queue for one lock: the cost of a hand-off by the number of waiters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .crowd import Crowd
from .directory import Directory
from .options import Options
from .servers import Control, Proxy, server_address, server_url
from .stats import median, percentile
from .subjects import Subject
from .workers import Call

#: All contenders of a subject are in one process, on this many connections.
SESSIONS = 4
#: Hand-offs that are counted at each length, and timed.
HAND_OFFS, QUICK_HAND_OFFS = 20, 4
#: How many contenders of fencepost are real when times are measured: as many as the peers have.
TIMED = 1_000
#: Hand-offs before the measurement, and the length of their queue: Java compiles code that has run often.
WARM, WARM_LINE = 1000, 50


@dataclass(frozen=True)
class Queue:
    """Hand-offs while at least `length` contenders were in the queue."""

    contenders: int
    #: How many of them were stand-ins, when counted and when timed: so many contenders take minutes to join.
    stand_ins: int
    stand_ins_timed: int
    #: From the call of release to the return of the next acquire, in milliseconds, without a proxy.
    p50: float
    p99: float
    #: Of all contenders in the queue, for one hand-off: without pings, session confirmations and rechecks.
    requests: float
    #: Rechecks (reads without a watch) during all these hand-offs: each waiter rechecks now and then.
    looks: int
    #: Watch events: the number of wake-ups.
    events: float
    bytes_sent: float
    bytes_received: float
    count: int


@dataclass(frozen=True)
class _Block:
    times: list[float]
    requests: int
    looks: int
    events: int
    bytes_sent: int
    bytes_received: int


def takes_part(subject: Subject) -> bool:
    """Whether a process can have many contenders of this subject."""
    return subject.crowd > 0


def measure(
    subjects: Sequence[Subject], options: Options, control: Control, lock: str, say: Callable[[str], None]
) -> dict[str, list[Queue]]:
    """One subject after the other, each twice: with a proxy that counts, and without one for the times."""
    results = {}
    for subject in (each for each in subjects if takes_part(each)):
        with control.proxy(subject.family) as proxy:
            say(f"{subject.name}, counting")
            counted = _Line(subject, options, f"{lock}-{subject.name}-c", proxy, say).measure()
        say(f"{subject.name}, timing")
        timed = _Line(subject, options, f"{lock}-{subject.name}-t", None, say).measure()
        results[subject.name] = [
            _queue(subject, length, counted[length], timed[length].times) for length in counted
        ]
    return results


def _queue(subject: Subject, length: int, counted: _Block, times: list[float]) -> Queue:
    count = len(counted.times)
    return Queue(
        length,
        max(0, length - subject.crowd),
        max(0, length - min(subject.crowd, TIMED)),
        median(times),
        percentile(times, 0.99),
        counted.requests / count,
        counted.looks,
        counted.events / count,
        counted.bytes_sent / count,
        counted.bytes_received / count,
        len(times),
    )


class _Line:
    """The contenders of one subject, whose number grows."""

    def __init__(
        self, subject: Subject, options: Options, lock: str, proxy: Proxy | None, say: Callable[[str], None]
    ) -> None:
        self._subject = subject
        self._most = subject.crowd if proxy else min(subject.crowd, TIMED)
        self._lengths = [length for length in options.lengths if length <= subject.crowd or subject.stand_in]
        self._hand_offs = min(QUICK_HAND_OFFS if options.quick else HAND_OFFS, subject.crowd_hand_offs)
        self._warm = round(WARM * options.warmth) if subject.language == "java" else WARM_LINE
        self._lock = lock
        self._proxy = proxy
        self._say = say

    def measure(self) -> dict[int, _Block]:
        """By the length of the queue."""
        address = server_url(self._subject.family)
        with ExitStack() as stack:
            directory = stack.enter_context(Directory(server_address(self._subject.family), self._lock))
            # Sessions that have not expired yet must not disturb the next measurement.
            stack.callback(directory.emptied)
            at = self._proxy.url if self._proxy else address
            crowd = Crowd(self._subject, at, self._lock)
            stack.callback(crowd.close)
            crowd.open(SESSIONS)
            return self._grow(crowd, directory)

    def _grow(self, crowd: Crowd, directory: Directory) -> dict[int, _Block]:
        passed = 0

        def fill(length: int) -> None:
            step = max(20, min(100, 200_000 // max(length, 1)))
            while (missing := length - (crowd.joined - passed)) > 0:
                crowd.join(min(step, missing))
                if self._subject.in_line:
                    directory.filled(crowd.joined - passed)
            directory.settled(length - 1 if self._subject.in_line else 0)

        while passed < self._warm:
            fill(WARM_LINE)
            crowd.pass_on(WARM_LINE - 2)
            passed += WARM_LINE - 2
        blocks = {}
        for length in self._lengths:
            self._say(f"{self._subject.name}: {length} in the queue")
            real = min(length, self._most)
            parts: list[_Block] = []
            while (done := sum(len(part.times) for part in parts)) < self._hand_offs:
                block = min(self._hand_offs - done, max(2, real // 5))
                # One contender more than is counted: the second in the queue saw only one node before it, and
                # need not list again.
                fill(real + block + 1)
                if length > real and not parts:
                    directory.stand_in(self._subject.stand_in, length - real - directory.standing)
                    directory.settled()
                if not parts:
                    crowd.pass_on(1)
                    passed += 1
                parts.append(self._block(crowd, directory, block))
                passed += block
            blocks[length] = _Block(
                [time for part in parts for time in part.times],
                sum(part.requests for part in parts),
                sum(part.looks for part in parts),
                sum(part.events for part in parts),
                sum(part.bytes_sent for part in parts),
                sum(part.bytes_received for part in parts),
            )
        return blocks

    def _block(self, crowd: Crowd, directory: Directory, count: int) -> _Block:
        if self._proxy is None:
            return _Block(milliseconds(crowd.pass_on(count)), 0, 0, 0, 0, 0)
        self._proxy.forget()
        turns = crowd.pass_on(count)
        directory.settled()
        counts = self._proxy.counts()
        requests = counts.requests - counts.confirmations - counts.looks
        traffic = (counts.events, counts.bytes_sent, counts.bytes_received)
        return _Block(milliseconds(turns), requests, counts.looks, *traffic)


def milliseconds(turns: Sequence[Call]) -> list[float]:
    """How long each took."""
    return [(turn.returned - turn.called) / 1e6 for turn in turns]
