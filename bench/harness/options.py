"""The command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .complaint import Complaint
from .placement import PLACEMENTS
from .programs import BENCH
from .subjects import FAMILIES, NAMES

SCENARIOS = (
    "uncontended",
    "handoff",
    "contended",
    "wire",
    "queue",
    "wakeups",
    "contenders",
    "many",
    "operations",
)
#: The lengths of the queue.
LENGTHS, QUICK_LENGTHS = (10, 100, 1_000, 10_000), (10, 50)
LONGEST = 20_000
#: How many tasks share a client.
TASKS, QUICK_TASKS = (1, 16, 256, 2_000), (1, 16)
MOST_TASKS = 10_000


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    families: tuple[str, ...]
    subjects: tuple[str, ...] | None
    scenarios: tuple[str, ...]
    sittings: int
    rounds: int
    cycles: int
    handoffs: int
    seconds: float
    placement: str
    lengths: tuple[int, ...]
    tasks: tuple[int, ...]
    many_sittings: int
    many_rounds: int
    many_seconds: float
    warmth: float
    quick: bool
    seed: int
    out: Path


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]  # argparse would print usage and exit
        raise Complaint(f"{message}\n{self.format_usage().strip()}")


def parse(arguments: Sequence[str]) -> Options:
    """Reads the command line. For a bad option, raises a Complaint that lists the valid values."""
    given = _parser().parse_args(arguments)
    quick = given.quick
    return Options(
        families=(given.only,) if given.only else FAMILIES,
        subjects=_listed("--subjects", given.subjects, NAMES),
        scenarios=_listed("--scenarios", given.scenarios, SCENARIOS) or SCENARIOS,
        sittings=given.sittings or (2 if quick else 16),
        rounds=given.rounds or (20 if quick else 480),
        cycles=10,
        handoffs=10 if quick else 60,
        seconds=0.4 if quick else 2.0,
        placement=given.placement,
        lengths=given.lengths or (QUICK_LENGTHS if quick else LENGTHS),
        tasks=given.tasks or (QUICK_TASKS if quick else TASKS),
        many_sittings=1 if quick else 4,
        many_rounds=2,
        many_seconds=0.1 if quick else 0.6,
        warmth=0.25 if quick else 1.0,
        quick=quick,
        seed=given.seed,
        out=_folder(given.out),
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python bench", description="Compares fencepost, the raw clients and the peers.")
    parser.add_argument(
        "--quick", action="store_true", help="some minutes: checks that it runs; do not quote the numbers"
    )
    parser.add_argument("--only", choices=FAMILIES, help="one server")
    parser.add_argument("--subjects", metavar="NAME,...", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--scenarios", metavar="NAME,...", help=f"some of: {', '.join(SCENARIOS)}")
    parser.add_argument(
        "--sittings",
        type=_sittings,
        metavar="N",
        help="how often the processes start again, with a share of the rounds (16; quick: 2)",
    )
    parser.add_argument(
        "--rounds", type=_rounds, metavar="N", help="how often each subject has its turn (480; quick: 20)"
    )
    parser.add_argument(
        "--placement",
        choices=PLACEMENTS,
        default=PLACEMENTS[0],
        help="Redis and its workers, uncontended: on different processors, on one, or on any (apart)",
    )
    parser.add_argument(
        "--lengths",
        type=_lengths,
        metavar="N,...",
        help="the numbers of contenders in a queue (10,100,1000,10000; quick: 10,50)",
    )
    parser.add_argument(
        "--tasks",
        type=_tasks,
        metavar="N,...",
        help="the numbers of tasks that share a client, each with its own lock (1,16,256,2000; quick: 1,16)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="for the times of releases (1)")
    parser.add_argument(
        "--out",
        type=Path,
        default=BENCH / "results",
        metavar="DIR",
        help="for latest.json, latest.svg and queue.svg (bench/results)",
    )
    return parser


def _listed(option: str, text: str | None, known: Sequence[str]) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = ", ".join(map(repr, unknown)) or "nothing"
        raise Complaint(f"{option} names {what}; there are: {', '.join(known)}")
    return names


def _rounds(text: str) -> int:
    return _number(text, "rounds", 10_000)


def _sittings(text: str) -> int:
    return _number(text, "sittings", 100)


def _number(text: str, what: str, most: int) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what}: 1 to {most}")
    return int(text)


def _lengths(text: str) -> tuple[int, ...]:
    return _numbers(text, "lengths of a line", 2, LONGEST)


def _tasks(text: str) -> tuple[int, ...]:
    return _numbers(text, "numbers of tasks", 1, MOST_TASKS)


def _numbers(text: str, what: str, least: int, most: int) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isdecimal() and least <= int(part) <= most for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} are no {what}: {least} to {most}, with commas between")
    return tuple(sorted({int(part) for part in parts}))


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Complaint(f"--out {path}: {error.strerror}") from None
    return path
