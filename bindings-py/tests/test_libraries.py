"""A client library that is missing, or has a version that a driver does not work with: the error of connect
says what to install.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import fencepost
import fencepost.asyncio
import pytest
from fencepost._client.libraries import KAZOO, REDIS, Library
from support import package_alone

#: Connects as the client of sys.argv[1]. Looks for modules in sys.argv[3].
CONNECT = """
import sys
sys.path[:0] = sys.argv[3].split(":")
import fencepost
from fencepost import asyncio
try:
    {"threads": fencepost, "asyncio": asyncio}[sys.argv[1]].connect(sys.argv[2])
except fencepost.DriverMissing as error:
    print(error.code, error.name, type(error.__cause__).__name__, error)
"""

each_library = pytest.mark.parametrize(
    ("library", "url"), [(KAZOO, "zk://localhost"), (REDIS, "redis://localhost")], ids=["kazoo", "redis"]
)
each_client = pytest.mark.parametrize("client", ["threads", "asyncio"])


def connect(client: str, url: str, *path: Path) -> str:
    """The output of a program that has only these packages, besides Python's own."""
    program = [sys.executable, "-S", "-c", CONNECT, client, url, ":".join(map(str, [*path, package_alone()]))]
    return subprocess.run(program, check=True, capture_output=True, text=True).stdout


def stand_in(folder: Path, library: Library, source: str) -> Path:
    """A package of the library's name."""
    (folder / library.module).mkdir()
    (folder / library.module / "__init__.py").write_text(source)
    return folder


@each_library
@each_client
def test_a_library_that_is_missing(library: Library, url: str, client: str) -> None:
    said = connect(client, url)
    assert said.startswith(
        f"526 driver-missing ModuleNotFoundError this needs the package {library.module}, which cannot be"
    )
    assert f": pip install 'fencepost[{library.extra}]'" in said


@each_library
@each_client
@pytest.mark.parametrize("version", ["0.9", "99.0", "of an unknown version"])
def test_a_version_that_does_not_work(
    library: Library, url: str, client: str, version: str, tmp_path: Path
) -> None:
    source = f"__version__ = {version!r}" if version[0].isdigit() else ""
    said = connect(client, url, stand_in(tmp_path, library, source))
    assert said == (
        f"509 driver-unsupported NoneType {library.module} {version} is installed, and fencepost needs "
        f"{library.module}>={library.first},<{library.beyond}: pip install 'fencepost[{library.extra}]'\n"
    )


@each_library
def test_the_extra_installs_a_version_that_works(library: Library, url: str) -> None:
    assert (
        f'{library.extra} = ["{library.needed}"]'
        in (Path(__file__).parents[1] / "pyproject.toml").read_text()
    )


@each_library
def test_the_versions_that_work(library: Library, url: str) -> None:
    works = library.works
    assert works(library.first)
    assert works(f"{library.first}.7")
    assert works(f"{library.first}b1")
    assert not works(library.beyond)
    assert not works(f"{library.beyond}.0rc1")


def test_a_program_without_metadata(tmp_path: Path) -> None:
    # There redis-py does not know its own version. The import of its parts fails later, because this is a
    # stand-in.
    said = connect("threads", "redis://localhost", stand_in(tmp_path, REDIS, "__version__ = '99.99.99'"))
    assert "ModuleNotFoundError" in said
    assert "is installed" not in said


def test_the_error() -> None:
    error = pickle.loads(pickle.dumps(fencepost.DriverMissing("this needs redis")))
    assert (str(error), error.code, error.name) == ("this needs redis", 526, "driver-missing")
    # Programs that caught it as an ImportError, before it had a number, still catch it.
    assert isinstance(error, ImportError)
