"""Several clients claim each key at once. Its operation runs once, and again only after a takeover."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from crowd import AT_A_KEY, claim_all, start
from history import History, read
from remains import remains
from storm import Storm
from worker import Server, Worker

#: `make bench` has 10,000.
KEYS, STORMY_KEYS = 1_000, 400


@pytest.fixture(scope="module")
def crowd() -> Iterator[list[Worker]]:
    """The clients."""
    crowd = start()
    yield crowd
    for worker in crowd:
        worker.end()


def test_each_key_runs_once(crowd: list[Worker], server: Server, log: Path) -> None:
    outcome = claim_all(crowd, server, log, KEYS)
    assert outcome.wrong == []
    assert (outcome.executions, outcome.answers) == (KEYS, KEYS * AT_A_KEY)
    assert remains(server, [f"key-{number}" for number in range(KEYS)]) == []


@pytest.mark.parametrize("seed", [1])
def test_workers_fail_at_any_moment(server: Server, log: Path, seed: int) -> None:
    storm = Storm(server, log, STORMY_KEYS, seed)
    try:
        storm.run()
        takeovers = sum(effect.takeovers for ran in read(log)[0].values() for effect in ran)
        print(f"seed {seed}: {takeovers} takeovers")
        assert takeovers > 0
        policies = {f"key-{number}": "retake" for number in range(STORMY_KEYS)}
        assert History().wrong(log, policies) == []
        assert remains(server, policies) == []
    finally:
        storm.end()
