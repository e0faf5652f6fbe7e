"""Idempotent operations: the cost of a claim and its completion, and a crowd that claims the same keys."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic

from kazoo.client import KazooClient

from . import wire
from .directory import AT_ONCE, LIMIT, connected
from .options import Options
from .programs import ROOT
from .servers import Control, server_address
from .subjects import CLAIM, Subject
from .uncontended import Times, Uncontended, companies, sit, sittings, summary
from .wire import Wire

BUCKETS = [f"{number:02x}" for number in range(256)]
KEYS, QUICK_KEYS = 10_000, 500


@dataclass(frozen=True)
class Crowd:
    """Twelve clients in four languages; three of them claim each key at once."""

    keys: int
    #: How many operations ran.
    executions: int
    #: How many callers got a result.
    answers: int
    #: Violations, such as a key with two results.
    wrong: list[str]
    seconds: float


def measure(
    subjects: Sequence[Subject], options: Options, scope: str, say: Callable[[str], None]
) -> dict[str, Uncontended]:
    """Times as in `uncontended`: a cycle is an operation with a new key."""
    times: Times = {subject.name: [] for subject in subjects}
    for rounds in sittings(options):
        for company in companies(subjects):
            with _records(company[0].family, (f"{scope}-{subject.name}" for subject in company)):
                sit(company, rounds, options, scope, say, times)
    return summary(subjects, times)


def count(
    subjects: Sequence[Subject], options: Options, control: Control, scope: str, say: Callable[[str], None]
) -> dict[str, Wire]:
    """Requests and flights."""
    results: dict[str, Wire] = {}
    for subject in (each for each in subjects if each.operation == CLAIM):
        with _records(subject.family, [f"{scope}-{subject.name}-alone"]):
            results |= wire.measure([subject], control, options.quick, scope, say)
    return results


def claim_all(family: str, options: Options, scope: str, say: Callable[[str], None]) -> Crowd:
    """Runs the crowd of `tests/operations`, which claims all keys."""
    sys.path += [str(ROOT / "tests" / name) for name in ("operations", "conformance")]
    # On the path only now. The linters cannot find these modules.
    crowd, worker = import_module("crowd"), import_module("worker")
    keys = QUICK_KEYS if options.quick else KEYS
    say(f"{keys} keys")
    workers = crowd.start()
    try:
        with tempfile.TemporaryDirectory() as folder, _records(family, [scope]):
            server = worker.Server(family, server_address(family), scope)
            begun = monotonic()
            outcome = crowd.claim_all(workers, server, Path(folder) / "log", keys)
            taken = monotonic() - begun
    finally:
        for each in workers:
            each.end()
    return Crowd(keys, outcome.executions, outcome.answers, outcome.wrong, taken)


@contextmanager
def _records(family: str, scopes: Iterable[str]) -> Iterator[None]:
    """On ZooKeeper: makes the directories, and deletes the records. Those on Redis expire."""
    if family != "zookeeper":
        yield
        return
    client = connected(server_address("zookeeper"))
    paths = [f"/fencepost/{scope}/{bucket}" for scope in scopes for bucket in BUCKETS]
    try:
        for path in paths:
            client.ensure_path(path)
        yield
        for path in paths:
            _empty(client, path)
    finally:
        client.stop()
        client.close()


def _empty(client: KazooClient, path: str) -> None:
    names = client.get_children(path)
    for start in range(0, len(names), AT_ONCE):
        asked = [client.delete_async(f"{path}/{name}") for name in names[start : start + AT_ONCE]]
        for each in asked:
            each.get(timeout=LIMIT)
