"""An ensemble of each version whose members can be disconnected, and workers that use it."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "interop" / "tests"), str(TESTS / "mixed"), str(TESTS / "selection")]

from ensemble import Ensemble  # noqa: E402
from selection import VERSIONS, pytest_addoption, pytest_collection_modifyitems  # noqa: E402
from workers import WorkerPool, Workers  # noqa: E402  # sys.path includes its imports only now

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]

NICE = 5
#: The value of ZooKeeper's example. Members that lose the leader continue for five ticks.
TICK_MS = "2000"


@pytest.fixture(scope="session", params=VERSIONS)
def ensemble(request: pytest.FixtureRequest) -> Iterator[Ensemble]:
    """Three members, each in a network namespace of its own."""
    ensemble = Ensemble(request.param)
    # There are many contenders, and restarting members must get the processor first.
    if os.nice(0) < NICE:
        os.nice(NICE)
    yield ensemble
    ensemble.close()


@pytest.fixture(scope="module")
def slow() -> Iterator[Ensemble]:
    """An ensemble with the ticks of production."""
    ensemble = Ensemble("3.9", "--tick", TICK_MS)
    yield ensemble
    ensemble.close()


@pytest.fixture(scope="session")
def pool(ensemble: Ensemble) -> Iterator[WorkerPool]:
    """The workers, which are replaced after a test that failed."""
    pool = WorkerPool(ensemble.members)
    yield pool
    pool.close()


@pytest.fixture
def workers(pool: WorkerPool) -> Workers:
    """Contenders of every machine and language, which run during all faults."""
    return pool.get()


@pytest.fixture
def root() -> str:
    """A directory that no other test uses."""
    return f"/faults-{uuid.uuid4().hex[:8]}"
