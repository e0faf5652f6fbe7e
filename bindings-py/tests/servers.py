"""Starts separate servers: for a worker of pytest-xdist, and for a test that needs an ensemble."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVERS = Path(__file__).parents[2] / "tests" / "servers"
#: The servers that most tests need.
USUAL = ("--zookeeper", "--redis", "2", "--redis-password", "--redis-tls")


@contextmanager
def started(*options: str) -> Iterator[dict[str, str]]:
    """Starts servers, and returns the environment variables with their addresses."""
    with subprocess.Popen(
        [sys.executable, str(SERVERS), "run", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the servers did not start: {options}"
        try:
            addresses: dict[str, str] = json.loads(line)
            yield addresses
        finally:
            # The process ends when its input ends.
            process.communicate()
