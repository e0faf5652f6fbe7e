"""The wheels and the source distribution, installed alone in every supported Python."""

from __future__ import annotations

import email.message
import email.parser
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import fencepost
import pytest
from fencepost._client.libraries import KAZOO, REDIS
from interpreters import VERSIONS, interpreter
from support import Backend

ROOT = Path(__file__).parents[2]
#: The wheel for this machine.
HERE = f"fencepost-*-manylinux*_{os.uname().machine}.whl"
MIB = 2**20
#: `make test-dist` tests more than `make test`.
RELEASE = "FENCEPOST_INSTALLED" in os.environ
#: The directory of the packages, and the command that builds them.
DIST, BUILDS = (
    (ROOT / "build" / "dist", "make dist")
    if RELEASE
    else (ROOT / "build" / "wheels" / "here", "make build-wheels")
)
#: The number of the processor in the header of a library.
MACHINES = {"x86_64": 62, "aarch64": 183}
#: In a README: a program without a server, and its output.
PROGRAM = re.compile(r"^```python\n([^`]*?)^```$(?:\n\nIt prints:\n\n```text\n(.*?)^```$)?", re.M | re.S)
IMPORTED = "import fencepost, sys; print(fencepost.__file__.startswith(sys.prefix), fencepost.__version__)"


def only(pattern: str) -> Path:
    """The one package of that name."""
    found = list(DIST.glob(pattern))
    assert len(found) == 1, f"{DIST.relative_to(ROOT)} has {len(found)} files {pattern}: run `{BUILDS}`"
    return found[0]


def run(*command: object, cwd: Path | None = None, **variables: str) -> str:
    """The output of a program that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def programs(guide: Path) -> Iterator[tuple[str, str | None]]:
    """A README's programs on `memory:`, each with its output."""
    for program, printed in PROGRAM.findall(guide.read_text()):
        if "memory:" in program:
            yield program, printed
        elif '"redis://localhost:6379"' in program and "db." not in program:
            yield program.replace('"redis://localhost:6379"', '"memory:"'), None


def from_source(folder: Path) -> Path:
    """The wheel that pip builds from the source distribution."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    built = ROOT / "build" / "wheels" / "from-source"
    # All files of a source distribution have the same date, so cargo does not detect that some have changed.
    for crate in built.glob("*/.fingerprint/fencepost-*"):
        shutil.rmtree(crate)
    run(
        *pip,
        "--wheel-dir",
        folder,
        only("fencepost-*.tar.gz"),
        PATH=programs,
        CARGO_TARGET_DIR=str(built),
        MATURIN_PEP517_ARGS="--profile dev",
    )
    (wheel,) = folder.glob("fencepost-*-cp310-abi3-*.whl")
    return wheel


def install(version: str, folder: Path, *packages: object) -> Path:
    """The Python of a new environment with these packages."""
    run(interpreter(version), "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--quiet", *packages)
    return python


def check_installed(wheel: Path, version: str, folder: Path) -> None:
    """Installs a wheel alone, and runs the programs of the READMEs."""
    python = install(version, folder, "--no-index", wheel)
    assert run(python, "-c", IMPORTED, cwd=folder).split() == ["True", fencepost.__version__]
    found = [*programs(ROOT / "README.md"), *programs(ROOT / "bindings-py" / "README.md")]
    assert len(found) == 4
    for program, printed in found:
        said = run(python, "-W", "error", "-c", program, cwd=folder)
        assert said == printed or not printed


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_works_alone(version: str, tmp_path: Path) -> None:
    check_installed(only(HERE), version, tmp_path)


@pytest.mark.timeout(900)
def test_the_source_distribution_builds_and_works(tmp_path: Path) -> None:
    wheel = from_source(tmp_path)
    for version in VERSIONS if RELEASE else VERSIONS[:1]:
        check_installed(wheel, version, tmp_path / version)


#: The client libraries are installed in each Python only before a release.
WITH_LIBRARIES = VERSIONS if RELEASE else (VERSIONS[0], VERSIONS[-1])


@pytest.mark.parametrize("version", WITH_LIBRARIES)
@pytest.mark.parametrize("lowest", [True, False], ids=["lowest", "newest"])
def test_the_wheel_works_with_what_its_extras_install(
    version: str, lowest: bool, redis_server: Backend, zookeeper: Backend, tmp_path: Path
) -> None:
    pins = [f"{library.module}=={library.first}" for library in (KAZOO, REDIS)] if lowest else []
    python = install(version, tmp_path, f"fencepost[redis,zookeeper] @ {only(HERE).as_uri()}", *pins)
    locks = [program for program, _ in programs(ROOT / "README.md") if '"memory:"' in program]
    assert len(locks) == 2
    for url in (redis_server.url, f"zk://{zookeeper.address}/{zookeeper.prefix}"):
        for program in locks:
            said = run(python, "-W", "error", "-c", program.replace("memory:", url), cwd=tmp_path)
            assert said.startswith("selling with fence ")


def metadata(wheel: zipfile.ZipFile) -> email.message.Message:
    """The metadata of a wheel."""
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.parser.Parser().parsestr(wheel.read(name).decode())


def test_every_wheel() -> None:
    only(HERE)
    for path in DIST.glob("fencepost-*.whl"):
        assert path.stat().st_size <= 1.2 * MIB
        name, version, python, abi, platforms = path.stem.split("-")
        assert (name, version, python, abi) == ("fencepost", fencepost.__version__, "cp310", "abi3")
        machine = next(machine for machine in MACHINES if platforms.endswith(machine))
        assert set(platforms.split(".")) in (
            {f"manylinux_2_17_{machine}", f"manylinux2014_{machine}"},
            {f"musllinux_1_2_{machine}"},
        )
        with zipfile.ZipFile(path) as wheel:
            check_library(wheel.read("fencepost/_fencepost.abi3.so"), machine)
            check_metadata(metadata(wheel))
            (sbom,) = (name for name in wheel.namelist() if "/sboms/" in name)
            assert "timestamp" not in json.loads(wheel.read(sbom))["metadata"]
            assert not re.search(path_of_this_machine(), wheel.read(sbom))
            for licence in ("LICENSE", "THIRD-PARTY.txt"):
                assert any(name.endswith(f".dist-info/licenses/{licence}") for name in wheel.namelist())
                assert licence in metadata(wheel).get_all("License-File", [])
            assert "fencepost/py.typed" in wheel.namelist()


def path_of_this_machine() -> bytes:
    """Matches a path that no other machine has."""
    places = (str(ROOT), str(Path.home()), "/home/", "/.cargo/")
    return "|".join(map(re.escape, places)).encode()


def check_library(library: bytes, machine: str) -> None:
    """Checks that a library is for this processor and an old glibc, and contains no path of the machine that
    built it.
    """
    assert int.from_bytes(library[18:20], "little") == MACHINES[machine]
    needed = {tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)}
    assert all(version <= (2, 17) for version in needed)
    found = re.search(path_of_this_machine(), library)
    assert found is None, library[found.start() : found.start() + 100]


def check_metadata(said: email.message.Message) -> None:
    """Checks that the versions of the client libraries are those that the drivers accept."""
    assert said["Version"] == fencepost.__version__
    assert said["Requires-Python"] == ">=3.10"
    # The README is also read outside of the repository.
    assert "](../" not in said.get_payload()
    assert {link.split(",")[0] for link in said.get_all("Project-URL", [])} >= {"Repository", "Changelog"}
    needs = set(said.get_all("Requires-Dist", []))
    for library in (KAZOO, REDIS):
        assert f"{library.needed} ; extra == '{library.extra}'" in needs
    assert any(need.startswith("opentelemetry-api") and "extra ==" in need for need in needs)


def test_free_threaded_python_is_refused() -> None:
    program = "import sys; sys.abiflags = 't'; import fencepost"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ImportError: fencepost does not support free-threaded Python yet" in done.stderr
