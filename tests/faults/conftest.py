"""An ensemble of each version whose members can be cut off, and contenders at work on it."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "interop" / "tests"), str(TESTS / "mixed"), str(TESTS / "selection")]

from crew import Crew, Crews  # noqa: E402  # what it needs is found only now
from ensemble import Ensemble  # noqa: E402
from selection import VERSIONS, pytest_addoption, pytest_collection_modifyitems  # noqa: E402

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]

NICE = 5
#: ZooKeeper's own example: members that lose the leader go on for five ticks.
TICK_MS = "2000"


@pytest.fixture(scope="session", params=VERSIONS)
def ensemble(request: pytest.FixtureRequest) -> Iterator[Ensemble]:
    """Three members, each in a network namespace of its own."""
    ensemble = Ensemble(request.param)
    # Contenders are many, and members that start again are to have the processor first.
    if os.nice(0) < NICE:
        os.nice(NICE)
    yield ensemble
    ensemble.close()


@pytest.fixture(scope="module")
def slow() -> Iterator[Ensemble]:
    """An ensemble whose servers are as slow to notice as servers are."""
    ensemble = Ensemble("3.9", "--tick", TICK_MS)
    yield ensemble
    ensemble.close()


@pytest.fixture(scope="session")
def crews(ensemble: Ensemble) -> Iterator[Crews]:
    """The crew, and those in its place after a test that failed."""
    crews = Crews(ensemble.members)
    yield crews
    crews.close()


@pytest.fixture
def crew(crews: Crews) -> Crew:
    """Contenders of every machine and language: they see all faults, one after the other."""
    return crews.sound()


@pytest.fixture
def root() -> str:
    """A directory that nobody else uses."""
    return f"/faults-{uuid.uuid4().hex[:8]}"
