"""Four languages use one lock, and no increment is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from counter import CounterServer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

CONTENDERS = {
    "rust": [str(TARGET / "debug" / "examples" / "contender")],
    "python": [sys.executable, str(HERE / "contender.py")],
    "c": [str(ROOT / "build" / "mixed" / "contender")],
    "javascript": ["node", str(HERE / "contender.mjs")],
}

#: The time limit of every wait, in seconds. All waits are much shorter.
LIMIT = 120


@pytest.fixture(params=["zk", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    """The real server that the lock is on."""
    variable = {"zk": "FENCEPOST_ZOOKEEPER", "redis": "FENCEPOST_REDIS"}[request.param]
    if variable not in os.environ:
        pytest.fail(
            f"{variable} is not set: run this suite by `python3 tests/servers run -- pytest tests/mixed`"
        )
    # After a kill, the waiters wait until the holder's session or lease ends.
    option = "?session_timeout=4000" if request.param == "zk" else ""
    return f"{request.param}://{os.environ[variable]}{option}"


@pytest.fixture
def counter() -> Iterator[CounterServer]:
    """A fresh counter."""
    with CounterServer() as server:
        yield server


def start(
    language: str,
    url: str,
    name: str,
    rounds: int,
    counter: CounterServer,
    *options: str,
    among: dict[str, list[str]] = CONTENDERS,
) -> subprocess.Popen[str]:
    """Starts the contender with that name."""
    command = [*among[language], url, name, str(rounds), "127.0.0.1", str(counter.port), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(language: str, contender: subprocess.Popen[str]) -> dict[str, int]:
    """Waits for a contender, and returns its report."""
    out, err = contender.communicate(timeout=LIMIT)
    assert contender.returncode == 0, f"{language} ended with {contender.returncode}: {err}"
    report: dict[str, int] = json.loads(out.splitlines()[-1])
    return report


def test_not_one_increment_is_lost(url: str, counter: CounterServer) -> None:
    """Two processes of each language, all at once."""
    rounds, name = 40, f"mixed/{uuid.uuid4()}"
    running = [
        (language, start(language, url, name, rounds, counter)) for language in CONTENDERS for _ in range(2)
    ]
    reports = [finish(language, contender) for language, contender in running]
    assert [report["done"] for report in reports] == [rounds] * len(running)
    assert counter.counter.value == rounds * len(running)
    assert (counter.counter.lost_updates, counter.counter.stale) == (0, 0)
    assert counter.counter.fences == sorted(counter.counter.fences)


def test_killed_holders_block_no_waiter(url: str, counter: CounterServer) -> None:
    """One process of each language is killed while it works; the others finish, and no increment is lost."""
    rounds, name = 40, f"mixed/{uuid.uuid4()}"
    endless = 10**6
    victims = [start(language, url, name, endless, counter) for language in CONTENDERS]
    running = [(language, start(language, url, name, rounds, counter)) for language in CONTENDERS]
    for step, victim in enumerate(victims, start=1):
        assert counter.counter.wait_for(step * 10, LIMIT), "the contenders stand still"
        victim.send_signal(signal.SIGKILL)
        victim.communicate(timeout=LIMIT)
    reports = [finish(language, contender) for language, contender in running]
    assert [report["done"] for report in reports] == [rounds] * len(running)
    assert counter.counter.lost_updates == 0
    assert counter.counter.value >= rounds * len(running)
    assert counter.counter.fences == sorted(counter.counter.fences)
