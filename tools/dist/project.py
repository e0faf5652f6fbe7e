"""The checkout: its folders, its version, and a function that runs a program in it."""

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
#: The artefacts of a release.
DIST = ROOT / "build" / "dist"
#: The Python package for this machine only, which the tests of a checkout use.
HERE = ROOT / "build" / "wheels" / "here"
#: The folder of builds for a release, separate from other builds, so that their files do not get into it.
WORK = ROOT / "build" / "dist-work"
#: Programs that only a release needs: `tools/setup release` installs them.
TOOLS = ROOT / "build" / "release-tools" / "bin"
MACHINE = platform.machine()
#: The published crates, each after its dependencies.
CRATES = {
    "fencepost-core": "core",
    "fencepost-models": "models",
    "fencepost": "bindings-rs",
    "fencepost-cli": "cli",
}


class Refused(Exception):
    """The reason why there is no release, and what to do."""


@functools.cache
def version() -> str:
    """The version in Cargo.toml."""
    found = re.search(r'^\[workspace\.package\]\nversion = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    if found is None:
        raise Refused("Cargo.toml has no version below [workspace.package]: write one")
    return found[1]


def run(*command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Runs a program, which must succeed, with additional variables, and returns its output."""
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
    """The variables with which compilers write the same bytes in any folder, with any home directory."""
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
    """The differences from the commit, as git shows them, without ignored files."""
    return run("git", "status", "--porcelain", "--untracked-files=all").splitlines()


def check_clean() -> None:
    """Checks that the tree matches the commit, so that a release has no other changes."""
    changed = uncommitted()
    if changed:
        shown = "\n".join(changed[:10])
        raise Refused(
            f"{len(changed)} files differ from the commit:\n{shown}\nCommit or remove them. "
            "To build without that, for a try, run `tools/dist --unclean`"
        )
