"""The checkout: where things are, what its version is, and how a program runs in it."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What a release consists of.
DIST = ROOT / "build" / "dist"
#: The Python package for this machine alone, as the tests of a checkout take it.
HERE = ROOT / "build" / "wheels" / "here"
#: Where it is built: nothing that another build has left there gets into it.
WORK = ROOT / "build" / "dist-work"
#: Programs that only a release needs: `tools/setup release` installs them.
TOOLS = ROOT / "build" / "release-tools" / "bin"
MACHINE = platform.machine()
#: The crates that are published, each after those that it stands on.
CRATES = {
    "fencepost-core": "core",
    "fencepost-models": "models",
    "fencepost": "bindings-rs",
    "fencepost-cli": "cli",
}


class Refused(Exception):
    """Why there is no release; the text also says what to do."""


@functools.cache
def version() -> str:
    """The one version, which Cargo.toml has."""
    found = re.search(r'^\[workspace\.package\]\nversion = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    if found is None:
        raise Refused("Cargo.toml has no version below [workspace.package]: write one")
    return found[1]


def run(*command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Runs a program that has to succeed, with these variables beside its others; what it prints."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-8000:])
        raise Refused(f"`{' '.join(map(str, command))}` ended with {done.returncode}: see above")
    return done.stdout


def tool(name: str) -> Path:
    """A program that only a release needs."""
    path = TOOLS / name
    if not path.exists():
        raise Refused(f"{name} is missing: run `tools/setup release`")
    return path


def cargo_home() -> Path:
    """Where cargo keeps the sources of the dependencies."""
    return Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))


def builds_alike() -> dict[str, str]:
    """The variables with which compilers write the same bytes in any folder, under any home."""
    paths = {cargo_home(): "/cargo", ROOT: "/fencepost"}
    return {
        "CARGO_TARGET_DIR": str(WORK / "target"),
        "CARGO_INCREMENTAL": "0",
        "CFLAGS": "-O2 " + " ".join(f"-ffile-prefix-map={path}={name}" for path, name in paths.items()),
        "RUSTFLAGS": " ".join(f"--remap-path-prefix={path}={name}" for path, name in paths.items()),
        "SOURCE_DATE_EPOCH": str(time_of_release()),
        "LC_ALL": "C",
        "TZ": "UTC",
    }


@functools.cache
def time_of_release() -> int:
    """When the commit was made, in seconds since 1970: the time of every file of an archive."""
    return int(run("git", "log", "-1", "--format=%ct"))


def uncommitted() -> list[str]:
    """What differs from the commit, as git shows it; files that git ignores are none of it."""
    return run("git", "status", "--porcelain", "--untracked-files=all").splitlines()


def check_clean() -> None:
    """A release is what a commit has, and nothing else."""
    changed = uncommitted()
    if changed:
        shown = "\n".join(changed[:10])
        raise Refused(
            f"{len(changed)} files differ from the commit:\n{shown}\nCommit or remove them. "
            "To build without that, for a try, run `tools/dist --unclean`"
        )
