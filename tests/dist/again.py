"""Builds a release once more, in another folder and with another home directory, and compares the bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from install import DIST, ROOT, sums

#: The files of each part of a release. Each may have a software bill of materials beside it.
PARTS = {
    "wheels": ("fencepost-*.whl", "fencepost-*.tar.gz"),
    "javascript": ("fencepost-*.tgz",),
    "crates": ("*.crate",),
    "c": ("libfencepost-*.tar.xz",),
    "command": ("fencepost-[0-9]*.tar.xz",),
    "site": ("fencepost-site-*.tar.xz",),
}


def is_of(name: str, parts: list[str]) -> bool:
    """Whether the file belongs to one of these parts; an empty list means all parts."""
    patterns = [pattern for part in parts for pattern in PARTS[part]]
    return not parts or any(fnmatch(name.removesuffix(".cdx.json"), pattern) for pattern in patterns)


def compared(before: dict[str, str], now: dict[str, str]) -> dict[str, str]:
    """Compares two builds. Returns the result for each file of either."""
    said = {}
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            said[name] = "MISSING"
        elif name not in before:
            said[name] = "NEW"
        else:
            said[name] = "same bytes" if before[name] == now[name] else "DIFFERENT"
    return said


def main(parts: list[str]) -> int:
    """Builds the parts, or all. Returns 1 if the files or their bytes differ from those in build/dist."""
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        sys.exit(f"tests/dist: no part {unknown[0]}: give one of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="fencepost-again-") as scratch:
        home, clone = Path(scratch) / "home", Path(scratch) / "checkout"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        if not parts or "javascript" in parts:
            packages = Path("bindings-wasm") / "node_modules"
            shutil.copytree(ROOT / packages, clone / packages, symlinks=True)
        tools = ROOT / "build" / "release-tools"
        if tools.exists():
            (clone / "build").mkdir()
            (clone / "build" / "release-tools").symlink_to(tools)
        if not parts or "site" in parts:
            mdbook = Path(".venv") / "bin" / "mdbook"
            (clone / mdbook).parent.mkdir(parents=True)
            (clone / mdbook).symlink_to(ROOT / mdbook)
        # The same compiler, but cargo downloads the sources of the dependencies again.
        rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
        env = {**os.environ, "HOME": str(home), "CARGO_HOME": str(home / ".cargo"), "RUSTUP_HOME": rustup}
        for part in parts or [""]:
            command = [sys.executable, "tools/dist", *([part] if part else [])]
            subprocess.run(command, cwd=clone, env=env, check=True)
        before = {name: digest for name, digest in sums(DIST).items() if is_of(name, parts)}
        said = compared(before, sums(clone / "build" / "dist"))
    failed = [name for name, what in said.items() if what != "same bytes"]
    for name in sorted(said, key=lambda name: (name in failed, name)):
        print(f"{said[name]}: {name}")
    print(f"{len(said) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not said else 0
