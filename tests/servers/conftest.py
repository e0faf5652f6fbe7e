"""One set of servers for all tests that do not need a separate run."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support import Control, finish, start


@pytest.fixture(scope="session")
def addresses() -> Iterator[dict[str, str]]:
    """The variables that a command gets."""
    process = start("run")
    assert process.stdout is not None
    line = process.stdout.readline()
    yield json.loads(line)
    assert finish(process) == ""


@pytest.fixture
def control(addresses: dict[str, str]) -> Iterator[Control]:
    """A control connection. After the test, all servers run again, and all proxies are closed."""
    control = Control(addresses["FENCEPOST_SERVERS"])
    yield control
    state = control.do("list")
    for server in state["servers"]:
        if server["state"] == "paused":
            control.do(f"resume {server['name']}")
        control.do(f"start {server['name']}")
    for proxy in state["proxies"]:
        control.do(f"proxy-close {proxy['id']}")
    control.close()
