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
#: Where `tools/setup release` installs the versions of Node.js that the package is for.
NODES = ROOT / "build" / "nodes" / "node_modules"
#: The client libraries that a program in JavaScript has beside the package.
PEERS = ("redis", "ioredis", "node-zookeeper-client")


def only(pattern: str) -> Path:
    """The one artefact of that name."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        sys.exit(f"tests/dist: build/dist has {len(found)} files {pattern}: run `make dist`")
    return found[0]


def run(*command: object, cwd: Path | None = None, **variables: str) -> str:
    """What a program prints that has to succeed."""
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
    """Every file has a line in SHA256SUMS, and every line a file, with these bytes."""
    lines = (line.split("  ") for line in (DIST / "SHA256SUMS").read_text().splitlines())
    listed, there = {(name, digest) for digest, name in lines}, set(sums(DIST).items())
    assert listed == there, listed ^ there


def unpack(archive: Path, into: Path) -> None:
    """Unpacks an archive without its one folder."""
    into.mkdir(parents=True)
    run("tar", "-xf", archive, "--strip-components=1", "-C", into)


def python(folder: Path) -> None:
    """The wheel, with all that its extras ask for."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    wheel = only(f"fencepost-*-manylinux*_{MACHINE}.whl")
    # The examples of the guides use these two, too.
    packages = (f"fencepost[redis,zookeeper,opentelemetry] @ {wheel.as_uri()}", "opentelemetry-sdk")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    there = ("--python", folder / "bin" / "python")
    run(*pip, *there, "install", "--quiet", *packages, *beside_the_guides())
    # The tests import fencepost, too: the same wheel, and not one that happens to be there.
    run(*pip, "install", "--quiet", "--no-deps", "--force-reinstall", wheel)


def beside_the_guides() -> list[str]:
    """What programs of the guides import beside fencepost, in the versions that the tests have."""
    pinned = (ROOT / "bindings-py" / "requirements-dev.txt").read_text()
    return re.findall(r"^((?:fastapi|flask|starlette|httpx|django)==\S+)", pinned, re.MULTILINE)


def node(folder: Path) -> None:
    """The npm package with the client libraries of the lock file, and the examples beside it."""
    unpack(only("fencepost-*.tgz"), folder / "node_modules" / "fencepost")
    sources = ROOT / "bindings-wasm"
    for entry in (sources / "node_modules").iterdir():
        if not entry.name.startswith("."):
            (folder / "node_modules" / entry.name).symlink_to(entry)
    (folder / "package.json").write_text('{ "type": "module" }\n')
    (folder / "README.md").write_bytes((folder / "node_modules" / "fencepost" / "README.md").read_bytes())
    run("cp", "-r", sources / "examples", folder / "examples")


def everything(folder: Path) -> None:
    """All artefacts for this machine: tests/readme/running.py knows these places."""
    python(folder / "python")
    node(folder / "node")
    unpack(only(f"libfencepost-*-{MACHINE}-linux-gnu.tar.xz"), folder / "c")
    unpack(only(f"fencepost-*-{MACHINE}-linux.tar.xz"), folder / "command")
    for crate in DIST.glob("*.crate"):
        name = re.sub(r"-\d+\.\d+\.\d+\.crate$", "", crate.name)
        if name != "fencepost-cli":
            unpack(crate, folder / "crates" / name)
