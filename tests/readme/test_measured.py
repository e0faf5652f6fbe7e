"""The measured table of a page has the figures of the benchmark's last run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from running import ROOT

PAGE = ROOT / "docs" / "how-to" / "choose-a-server.md"
RESULTS = json.loads((ROOT / "bench" / "results" / "latest.json").read_text())["results"]

#: What a row shows: the server, the kind, and the subjects of Rust, C, Python and JavaScript.
ROWS = [
    ("zookeeper", "mutex", ("rust", "c", "python", "javascript")),
    ("zookeeper", "writer", ("rust-write", "c-write", "python-write", None)),
    ("zookeeper", "semaphore", ("rust-semaphore", "c-semaphore", "python-semaphore", None)),
    ("zookeeper", "multi-lock of three", ("rust-multi", None, None, None)),
    ("zookeeper", "unfair lock", ("rust-single", None, None, None)),
    ("redis", "mutex", ("rust", "c", "python", "node-redis")),
]
NAMES = {"zookeeper": "ZooKeeper", "redis": "Redis"}


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


@pytest.mark.parametrize("table", [alone, handoff])
def test_the_table_has_the_figures_of_the_benchmark(table: Callable[[], list[str]]) -> None:
    begin = f"<!-- measured: {table.__name__} -->\n"
    written = PAGE.read_text().split(begin)[1].split("<!-- measured: end -->")[0]
    assert written.splitlines() == table()
