"""The examples of operations run on every server, and print the same output in all languages."""

from __future__ import annotations

import os
import re
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from running import ROOT, build_c, run

#: The output of each example.
PRINTS = {
    "withdraw": """\
balance after the withdrawal: 70
balance after a repetition: 70
another amount: mismatch
another account: mismatch
a guessed ticket: unknown-token
""",
    "order": """\
double click: order 1 order 1
two tabs: order 2 order 3
retrying proxy: order 4
the same token, another basket: mismatch
shipped: 4
""",
    "seckill": """\
30 clicks, 10 orders, 20 replayed
5 pieces, 5 users
""",
    "stock": """\
10 pieces, version 1
sale 1: version 2, replayed: false
sale 1 again: version 2, replayed: true
sale 2: conflict, 9 pieces are left in version 2
8 pieces, version 3
""",
    "charge": """\
takeovers: 0, a new charge: true
killed
takeovers: 1, a new charge: false
completed: receipt 1
replayed: receipt 1
charged: 1700 cents
""",
}

#: The line with the bank's database, whose format depends on the language.
BALANCES = re.compile(r"^the bank's balances: .*\b70\b.*\b100\b.*\n", re.MULTILINE)


def run_python(name: str, address: str, _cwd: Path) -> str:
    """Runs an example in Python."""
    return run(sys.executable, "-W", "error", f"examples/{name}.py", address, cwd=ROOT / "bindings-py")


def run_javascript(name: str, address: str, _cwd: Path) -> str:
    """Runs an example in JavaScript."""
    return run("node", f"examples/{name}.mjs", address, cwd=ROOT / "bindings-wasm")


def run_c(name: str, address: str, cwd: Path) -> str:
    """Builds and runs an example in C, on names that no other run uses."""
    build_c((ROOT / "bindings-c" / "examples" / f"{name}.c").read_text(), cwd)
    return run("./snippet", address, f"item-{uuid.uuid4()}", cwd=cwd)


def run_rust(name: str, address: str, cwd: Path) -> str:
    """Runs an example in Rust, which `make build` has built."""
    return run(str(ROOT / "target" / "debug" / "examples" / name), address, cwd=cwd)


LANGUAGES: dict[Callable[[str, str, Path], str], list[str]] = {
    run_python: ["withdraw", "order", "seckill", "stock", "charge"],
    run_javascript: ["order", "stock"],
    run_c: ["withdraw", "stock"],
    run_rust: ["withdraw", "seckill"],
}


def address(server: str) -> str:
    """An address of this kind of server."""
    if server == "memory":
        return "memory:"
    variable = f"FENCEPOST_{server.upper()}"
    if variable not in os.environ:
        pytest.fail(f"{variable} is not set: run this by `python3 tests/servers run -- pytest tests/readme`")
    if server == "redis":
        return f"redis://{os.environ[variable]}"
    return f"zk://{os.environ[variable]}/examples?session_timeout=2000"


def examples() -> list[object]:
    """All examples, on all servers that they can use."""
    return [
        pytest.param(language, name, server, id=f"{language.__name__[4:]}-{name}-{server}")
        for language, names in LANGUAGES.items()
        for name in names
        for server in ("memory", "redis", "zookeeper")
        # The two processes of this example share no memory.
        if (name, server) != ("charge", "memory")
        # In JavaScript, operations work only on Redis.
        if language is not run_javascript or server == "redis"
    ]


@pytest.mark.parametrize(("language", "name", "server"), examples())
def test_example(language: Callable[[str, str, Path], str], name: str, server: str, tmp_path: Path) -> None:
    printed = language(name, address(server), tmp_path).replace("True", "true").replace("False", "false")
    if name == "withdraw":
        assert BALANCES.search(printed)
    assert BALANCES.sub("", printed) == PRINTS[name]


def test_every_example_runs_without_an_address(tmp_path: Path) -> None:
    """It runs on `memory:`, as its comment promises."""
    for name in LANGUAGES[run_python]:
        if name != "charge":
            run(sys.executable, f"bindings-py/examples/{name}.py", cwd=ROOT)
