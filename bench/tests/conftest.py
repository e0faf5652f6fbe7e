"""Shared code of the benchmark's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parent.parent

# The tests need no optimised worker, which takes minutes to compile.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target"))
os.environ.setdefault("FENCEPOST_BENCH_RUST", str(TARGET / "debug"))


def bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the benchmark."""
    return subprocess.run(
        [sys.executable, str(BENCH), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,  # a limit for a hang: a run takes a minute on an idle machine
        env={**os.environ, "COLUMNS": "200", **environment},
    )


@pytest.fixture
def servers() -> None:
    """Fails if there are none."""
    if "FENCEPOST_SERVERS" not in os.environ:
        pytest.fail("run these by `python3 tests/servers run -- .venv/bin/pytest bench`")
