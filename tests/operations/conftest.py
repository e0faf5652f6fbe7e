"""Workers of all languages, on a real server of each family."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "conformance")]

from remains import make_directories  # noqa: E402  # sys.path includes its imports only now
from worker import LANGUAGES, Server, Worker  # noqa: E402


@pytest.fixture(params=["redis", "zookeeper"])
def server(request: pytest.FixtureRequest) -> Server:
    """A real server, and a scope that no other test uses."""
    variable = f"FENCEPOST_{request.param.upper()}"
    if variable not in os.environ:
        pytest.fail(f"{variable} is not set: run `python3 tests/servers run -- pytest tests/operations`")
    server = Server(request.param, os.environ[variable], f"scope-{uuid.uuid4().hex[:8]}")
    make_directories(server)
    return server


@pytest.fixture(scope="session")
def workers() -> Iterator[dict[str, Worker]]:
    """One worker of each language, which gets no fault."""
    running = {language: Worker(language) for language in LANGUAGES}
    yield running
    for worker in running.values():
        worker.end()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The file to which effects append a line."""
    return tmp_path / "log"
