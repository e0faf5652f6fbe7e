"""Installs a release as a user does: from build/dist, into a folder outside of the checkout."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "build" / "dist"
MACHINE = platform.machine()
#: Where `tools/setup release` installs the supported versions of Node.js.
NODES = ROOT / "build" / "nodes" / "node_modules"
#: The client libraries that a JavaScript program installs beside the package.
PEERS = ("redis", "ioredis", "node-zookeeper-client")


def only(pattern: str) -> Path:
    """The one artefact that matches the pattern."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        sys.exit(f"tests/dist: build/dist has {len(found)} files {pattern}: run `make dist`")
    return found[0]


def run(*command: object, cwd: Path | None = None, **variables: str) -> str:
    """Runs a program, which must succeed, and returns its output."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout


def sums(folder: Path) -> dict[str, str]:
    """The digest of each artefact in a folder."""
    paths = (path for path in folder.iterdir() if path.name != "SHA256SUMS")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def check_sums() -> None:
    """Checks that SHA256SUMS has exactly the files and digests of build/dist."""
    lines = (line.split("  ") for line in (DIST / "SHA256SUMS").read_text().splitlines())
    listed, there = {(name, digest) for digest, name in lines}, set(sums(DIST).items())
    assert listed == there, listed ^ there


def unpack(archive: Path, into: Path) -> None:
    """Unpacks the content of the archive's one folder."""
    into.mkdir(parents=True)
    run("tar", "-xf", archive, "--strip-components=1", "-C", into)


def python(folder: Path) -> None:
    """Installs the wheel, with the packages of its extras."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    wheel = only(f"fencepost-*-manylinux*_{MACHINE}.whl")
    # The guides' examples also need OpenTelemetry: the extra and its SDK.
    packages = (f"fencepost[redis,zookeeper,opentelemetry] @ {wheel.as_uri()}", "opentelemetry-sdk")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    there = ("--python", folder / "bin" / "python")
    run(*pip, *there, "install", "--quiet", *packages, *beside_the_guides())
    # The tests also import fencepost. They must use the same wheel, not an older installed one.
    run(*pip, "install", "--quiet", "--no-deps", "--force-reinstall", wheel)


def beside_the_guides() -> list[str]:
    """The other packages that the guides' programs import, in the versions of the tests."""
    pinned = (ROOT / "bindings-py" / "requirements-dev.txt").read_text()
    return re.findall(r"^((?:fastapi|flask|starlette|httpx|django)==\S+)", pinned, re.MULTILINE)


def node(folder: Path) -> None:
    """Installs the npm package with the client libraries of the lock file, and the examples."""
    unpack(only("fencepost-*.tgz"), folder / "node_modules" / "fencepost")
    sources = ROOT / "bindings-wasm"
    for entry in (sources / "node_modules").iterdir():
        if not entry.name.startswith("."):
            (folder / "node_modules" / entry.name).symlink_to(entry)
    (folder / "package.json").write_text('{ "type": "module" }\n')
    (folder / "README.md").write_bytes((folder / "node_modules" / "fencepost" / "README.md").read_bytes())
    run("cp", "-r", sources / "examples", folder / "examples")


def everything(folder: Path) -> None:
    """Installs all artefacts for this machine, in the places that tests/readme/running.py expects."""
    python(folder / "python")
    node(folder / "node")
    unpack(only(f"libfencepost-*-{MACHINE}-linux-gnu.tar.xz"), folder / "c")
    unpack(only(f"fencepost-*-{MACHINE}-linux.tar.xz"), folder / "command")
    for crate in DIST.glob("*.crate"):
        name = re.sub(r"-\d+\.\d+\.\d+\.crate$", "", crate.name)
        if name != "fencepost-cli":
            unpack(crate, folder / "crates" / name)
