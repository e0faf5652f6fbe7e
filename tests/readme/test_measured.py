"""The measured tables of the pages have the figures of the benchmark's last run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from running import source

GUIDE = "docs/how-to/choose-a-server.md"


def results(file: str) -> Any:
    return json.loads(source(f"bench/results/{file}"))["results"]


RESULTS = results("latest.json")

#: The content of a row: the server, the kind, and the subjects of Rust, C, Python and JavaScript.
ROWS = [
    ("zookeeper", "mutex", ("rust", "c", "python", "javascript")),
    ("zookeeper", "writer", ("rust-write", "c-write", "python-write", None)),
    ("zookeeper", "semaphore", ("rust-semaphore", "c-semaphore", "python-semaphore", None)),
    ("zookeeper", "multi-lock of three", ("rust-multi", None, None, None)),
    ("zookeeper", "unfair lock", ("rust-single", None, None, None)),
    ("redis", "mutex", ("rust", "c", "python", "node-redis")),
]
NAMES = {"zookeeper": "ZooKeeper", "redis": "Redis"}

#: The names of the benchmark's clients for readers.
CLIENTS = {
    "rust": "Rust",
    "c": "C",
    "asyncio": "Python (asyncio)",
    "javascript": "JavaScript",
    "node-redis": "JavaScript (node-redis)",
    "ioredis": "JavaScript (ioredis)",
}


def median(family: str, scenario: str, subject: str | None, digits: int) -> str:
    found: dict[str, Any] = RESULTS[family][scenario]
    return f"{found[subject]['p50']:.{digits}f}" if subject in found else "-"


def alone() -> list[str]:
    """The table of an acquire and release, in microseconds."""
    lines = ["| server | kind | requests | Rust | C | Python | JavaScript |", "|---" * 7 + "|"]
    for family, kind, subjects in ROWS:
        cells = [NAMES[family], kind, f"{RESULTS[family]['wire'][subjects[0]]['requests']:g}"]
        cells += [median(family, "uncontended", subject, 0) for subject in subjects]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def handoff() -> list[str]:
    """The table of a hand-off, in milliseconds."""
    lines = ["| server | kind | Rust | C | Python | JavaScript |", "|---" * 6 + "|"]
    for family, kind, subjects in ROWS:
        cells = [median(family, "handoff", subject, 2) for subject in subjects]
        if set(cells) != {"-"}:
            lines.append(f"| {NAMES[family]} | {kind} | {' | '.join(cells)} |")
    return lines


def many() -> list[str]:
    """The table of many tasks on one client: the time of a cycle, divided by that of the raw client."""
    found = results("many.json")
    tasks = [load["tasks"] for load in found["redis"]["many"]["rust"]]
    heads = ["server", "client", *(f"{number} task{'s' * (number > 1)}" for number in tasks)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for family, subjects in found.items():
        for subject, loads in subjects["many"].items():
            raw = f"{subject}-raw"
            if any(raw in load["ratios"] for load in loads):
                ratios = [load["ratios"].get(raw) for load in loads]
                cells = ["-" if ratio is None else f"{ratio['median']:.2f}" for ratio in ratios]
                lines.append(f"| {NAMES[family]} | {CLIENTS[subject]} | {' | '.join(cells)} |")
    return lines


@pytest.mark.parametrize(("page", "table"), [(GUIDE, alone), (GUIDE, handoff), ("bench/README.md", many)])
def test_the_table_has_the_figures_of_the_benchmark(page: str, table: Callable[[], list[str]]) -> None:
    begin = f"<!-- measured: {table.__name__} -->\n"
    written = source(page).split(begin)[1].split("<!-- measured: end -->")[0]
    assert written.splitlines() == table()
