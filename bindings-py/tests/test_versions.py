"""Runs the tests of each driver with the oldest and the newest version of its client library that the package
allows, each in its own virtual environment. `make matrix` also runs the versions between them, and the oldest
one of redis-py with hiredis.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT.parent / "build" / "python-versions"


@dataclass(frozen=True)
class Row:
    """A version of a library, and the tests that run with it."""

    library: str
    version: str
    """A version in pip's syntax: pip installs the newest version that matches."""
    tests: Mapping[str, tuple[str, ...]]
    """The parts that run in parallel."""
    only: str
    """The selection of these tests, for pytest's option -k."""
    extra: str = ""
    """An extra of the library: redis-py uses the parser of hiredis if that is installed."""

    @property
    def directory(self) -> Path:
        """The directory of its environment."""
        return ENVIRONMENTS / f"{self}".replace("*", "x")

    @property
    def wanted(self) -> str:
        """The requirement for pip."""
        return f"{self.library}{f'[{self.extra}]' if self.extra else ''}=={self.version}"

    def __str__(self) -> str:
        return "-".join(filter(None, (self.library, self.version, self.extra)))


REDIS = {
    "connections": ("test_redis_connections.py",),
    "rest": (
        "test_redis.py",
        "test_client.py",
        "test_asyncio_client.py",
        "test_faults.py",
        "test_tls.py",
        "test_losses.py",
        "test_asyncio_losses.py",
        "test_unreachable.py",
        "test_redis_sentinel.py",
    ),
}
# These tests do not depend on the version: they test how long the client and the server wait.
ALIKE = "process_is_killed or stop-start or that_limit or gives_none"
ONLY = f"(redis or tls or errors or subscription) and not ({ALIKE})"
KAZOO = {
    "all": ("test_kazoo.py", "test_kazoo_operations.py", "test_kazoo_thread.py", "test_kazoo_own.py"),
}
ROWS = [
    Row("redis", "5.0.1", REDIS, ONLY),
    Row("redis", "5.0.1", REDIS, ONLY, "hiredis"),
    Row("redis", "5.3.*", REDIS, ONLY),
    Row("redis", "6.4.*", REDIS, ONLY),
    Row("redis", "7.1.*", REDIS, ONLY),
    Row("redis", "8.*", REDIS, ONLY, "hiredis"),
    Row("redis", "8.*", REDIS, ONLY),
    Row("kazoo", "2.8.0", KAZOO, "test"),
    Row("kazoo", "2.11.*", KAZOO, "test"),
]


def bounds(library: str) -> tuple[str, str]:
    """The oldest version that the package's metadata allow, and the first that they do not."""
    found = re.search(rf'"{library}>=([\d.]+),<([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert found is not None
    return found[1], found[2]


def numbers(version: str) -> list[int]:
    """The numbers of a version, without a ``*``."""
    return [int(part) for part in version.split(".") if part != "*"]


@pytest.mark.parametrize("library", ["redis", "kazoo"])
def test_the_rows_go_from_the_oldest_to_the_newest(library: str) -> None:
    oldest, beyond = bounds(library)
    versions = [row.version for row in ROWS if row.library == library]
    first, last = numbers(versions[0]), numbers(versions[-1])
    assert first[: len(numbers(oldest))] == numbers(oldest)
    assert not any(first[len(numbers(oldest)) :])
    # A version with one more at the last given place is not allowed.
    assert versions[-1].endswith("*")
    assert [*last[:-1], last[-1] + 1] == numbers(beyond)


def install(row: Row) -> Path:
    """The Python of its environment. Besides the library, it has the packages of this Python."""
    python = row.directory / "bin" / "python"
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    # The parts of a row may begin at the same time.
    with (ENVIRONMENTS / f"{row.directory.name}.lock").open("w") as order:
        fcntl.flock(order, fcntl.LOCK_EX)
        make(row, python)
    return python


def make(row: Row, python: Path) -> None:
    """Makes its environment, unless there is one."""
    if not (row.directory / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", row.directory], check=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
        subprocess.run([*pip, "install", "--quiet", row.wanted], check=True)
        paths = {"base": str(row.directory), "platbase": str(row.directory)}
        packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
        parent = sysconfig.get_path("purelib")
        # After its own packages, and with the editable package of this repository.
        (packages / "behind.pth").write_text(f"import site; site.addsitedir({parent!r})\n")
        (row.directory / "done").touch()


def marks(row: Row) -> list[pytest.MarkDecorator]:
    """`make test` runs the newest version, and the oldest without hiredis; `make matrix` runs all rows."""
    oldest, *_, newest = (other.version for other in ROWS if other.library == row.library)
    runs = row.version == newest or (row.version == oldest and not row.extra)
    return [] if runs else [pytest.mark.full_product]


@pytest.mark.servers
@pytest.mark.timeout(900)
@pytest.mark.skipif("FENCEPOST_SERVERS" not in os.environ, reason="needs `python3 tests/servers run -- CMD`")
@pytest.mark.parametrize(
    ("row", "part"),
    [pytest.param(row, part, id=f"{row}-{part}", marks=marks(row)) for row in ROWS for part in row.tests],
)
def test_a_version(row: Row, part: str) -> None:
    python = install(row)
    found = subprocess.run(
        [python, "-c", f"import {row.library} as it; print(it.__file__, it.__version__)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert found[0].startswith(str(row.directory))
    wanted = numbers(row.version)
    assert numbers(found[1])[: len(wanted)] == wanted
    if row.extra:
        shown = "from redis.connection import DefaultParser; print(DefaultParser.__name__)"
        parser = subprocess.run([python, "-c", shown], check=True, capture_output=True, text=True).stdout
        assert row.extra in parser.lower()
    elif found[1] == importlib.metadata.version(row.library):
        return  # The suite itself runs with this version.
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", row.only, *row.tests[part]],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert re.search(r"\d{2,} passed", done.stdout)
