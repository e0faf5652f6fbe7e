"""One client with many tasks, each with a lock of its own: the throughput, and the cost of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from .complaint import Complaint
from .options import Options
from .programs import command
from .servers import server_url
from .stats import Spread, median, ratios
from .subjects import Role, Subject
from .uncontended import companies, order
from .workers import LIMIT, Worker

#: fencepost's subjects that take part, with their raw clients: one for each library. The peers take part too.
OURS = ("rust", "c", "asyncio", "javascript", "node-redis", "ioredis")
PEERS = ("kazoo-lock", "curator", "redis-py-lock-asyncio")
#: How long the workers acquire and release until the compilers are done, in seconds.
WARM = {"javascript": 1.5, "java": 1.5}
WARM_OTHERS = 0.3
#: The least number of tasks for which memory is measured: with fewer, the process's own memory hides theirs.
MEMORY_FROM = 1_000
#: How long waiters have to send their requests, in milliseconds.
ASKING = 2_000


@dataclass(frozen=True)
class Many:
    """One client with this many tasks, each of which acquires and releases a lock of its own in a loop."""

    tasks: int
    #: Acquires and releases of all tasks together, a second.
    per_second: float
    #: The processor time of the client's process for one acquire and release, in microseconds.
    cpu: float
    #: One second divided by the rate of each round, in microseconds.
    rounds: list[list[float]]
    #: The time divided by that of the other subject, by the other's name.
    ratios: dict[str, Spread]
    #: Bytes of memory for one more lock that is held, and one more that a task waits for; the task included.
    held: float | None = None
    waiting: float | None = None
    #: The error of a client that cannot run so many tasks: then there are no numbers.
    failed: str | None = None


@dataclass(frozen=True)
class Run:
    """The result of one turn; times in nanoseconds."""

    cycles: int
    time: int
    cpu: int


class Tasks(Worker):
    """A worker with many tasks. The protocol is in ../README.md."""

    #: It may have to withdraw thousands of contenders.
    exit_limit = 30.0

    def program(self, subject: Subject) -> list[str]:
        """Its command line."""
        return command(subject, prefix="many-")

    def open(self, count: int) -> None:
        """Adds this many tasks."""
        self._tell(f"open {count}")

    def hold(self) -> None:
        """Every task acquires its lock, and keeps it."""
        self._tell("hold")

    def wait(self) -> None:
        """Every task waits for its lock, which another process holds."""
        self._tell(f"wait {ASKING}")

    def run(self, seconds: float) -> Run:
        """Every task acquires and releases its lock in a loop."""
        self.send(f"run {round(seconds * 1000)}")
        answer = self._numbers(self.receive(seconds + LIMIT))
        if len(answer) != 3 or min(answer) < 1:
            raise self._complaint(
                f"answered {answer!r}, which is not a number of cycles, a time and a processor time"
            )
        return Run(*answer)

    def memory(self) -> int:
        """The memory of its process, in bytes."""
        self.send("memory")
        (answer,) = self._numbers(self.receive())
        return answer

    def _tell(self, line: str) -> None:
        self.send(line)
        if answer := self.receive():
            raise self._complaint(f"answered {answer!r} to {line!r}")


def takes_part(subject: Subject) -> bool:
    """One client of each library, and the peers."""
    return subject.name.removesuffix("-raw") in OURS or subject.name in PEERS


#: By the subject's name: sittings of rounds; or why there are none.
Runs = dict[str, list[list[Run]]]
Failures = dict[str, str]


def measure(
    subjects: Sequence[Subject], options: Options, lock: str, say: Callable[[str], None]
) -> dict[str, list[Many]]:
    """For each number of tasks, the subjects that are compared take turns, as in `uncontended`."""
    subjects = [subject for subject in subjects if takes_part(subject)]
    results: dict[str, list[Many]] = {subject.name: [] for subject in subjects}
    for tasks in options.tasks:
        for company in companies(subjects):
            runs: Runs = {subject.name: [] for subject in company}
            failures: Failures = {}
            for sitting in range(options.many_sittings):
                say(f"{', '.join(subject.name for subject in company)}: {tasks} tasks, sitting {sitting + 1}")
                _sit(company, tasks, options, f"{lock}-{tasks}-{sitting}", runs, failures)
            memory = {}
            for subject in company if tasks >= MEMORY_FROM else []:
                if subject.name not in failures:
                    say(f"{subject.name}: the memory of {tasks} tasks")
                    memory[subject.name] = _memory(subject, tasks, f"{lock}-{tasks}-m-{subject.name}")
            for name, many in summary(company, tasks, runs, failures, memory).items():
                results[name].append(many)
    return results


def _sit(
    company: Sequence[Subject], tasks: int, options: Options, lock: str, runs: Runs, failures: Failures
) -> None:
    """One sitting: some rounds with the same processes."""
    with ExitStack() as stack:
        workers = []
        for subject in company:
            if subject.name not in failures:
                with _excused(subject, failures):
                    worker = Tasks(subject, server_url(subject.family), f"{lock}-{subject.name}")
                    stack.callback(worker.close)
                    worker.open(tasks)
                    worker.run(WARM.get(subject.language, WARM_OTHERS) * options.warmth)
                    workers.append(worker)
                    runs[subject.name].append([])
        for number in range(options.many_rounds):
            for worker in order(workers, number):
                if worker.subject.name not in failures:
                    with _excused(worker.subject, failures):
                        runs[worker.subject.name][-1].append(worker.run(options.many_seconds))


@contextmanager
def _excused(subject: Subject, failures: Failures) -> Iterator[None]:
    """If another library fails, that is a result; if fencepost fails, the error is raised."""
    try:
        yield
    except Complaint as complaint:
        if subject.role is Role.OURS:
            raise
        failures[subject.name] = str(complaint).splitlines()[-1]


def _memory(subject: Subject, tasks: int, lock: str) -> tuple[float, float | None]:
    """Bytes for a lock that is held and, if the subject is a lock, for one that is waited for."""
    with ExitStack() as stack:
        url = server_url(subject.family)
        holder = Tasks(subject, url, lock)
        stack.callback(holder.close)
        held = _grown(holder, tasks, Tasks.hold)
        if subject.role is Role.RAW:
            return held, None
        waiter = Tasks(subject, url, lock)
        stack.callback(waiter.close)
        return held, _grown(waiter, tasks, Tasks.wait)


def _grown(worker: Tasks, tasks: int, take: Callable[[Tasks], None]) -> float:
    """How many bytes a connected process grows for each task."""
    worker.ready()
    before = worker.memory()
    worker.open(tasks)
    take(worker)
    return (worker.memory() - before) / tasks


def summary(
    company: Sequence[Subject],
    tasks: int,
    runs: Runs,
    failures: Failures,
    memory: dict[str, tuple[float, float | None]],
) -> dict[str, Many]:
    """Computes the results from the turns."""
    rounds = {
        name: [[run.time / run.cycles / 1e3 for run in sitting] for sitting in own]
        for name, own in runs.items()
    }
    results = {}
    for subject in company:
        if subject.name in failures:
            results[subject.name] = Many(tasks, 0.0, 0.0, [], {}, failed=failures[subject.name])
            continue
        every = [run for sitting in runs[subject.name] for run in sitting]
        held, waiting = memory.get(subject.name, (None, None))
        results[subject.name] = Many(
            tasks,
            per_second=1e6 / median([time for sitting in rounds[subject.name] for time in sitting]),
            cpu=median([run.cpu / run.cycles / 1e3 for run in every]),
            rounds=rounds[subject.name],
            ratios={
                limit.against: ratios(rounds[subject.name], rounds[limit.against])
                for limit in subject.limits
                if limit.against in rounds and limit.against not in failures
            },
            held=held,
            waiting=waiting,
        )
    return results
