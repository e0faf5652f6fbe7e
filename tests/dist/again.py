"""Builds a release once more, in another folder and under another home, and compares the bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from install import DIST, ROOT, sums


def main(parts: list[str]) -> int:
    """Builds the parts, or all; 1 if a file differs from the one in build/dist."""
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
        # The same compiler; cargo gets the sources of the dependencies anew.
        rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
        env = {**os.environ, "HOME": str(home), "CARGO_HOME": str(home / ".cargo"), "RUSTUP_HOME": rustup}
        for part in parts or [""]:
            command = [sys.executable, "tools/dist", *([part] if part else [])]
            subprocess.run(command, cwd=clone, env=env, check=True)
        before, now = sums(DIST), sums(clone / "build" / "dist")
    differ = sorted(name for name, digest in now.items() if before.get(name) != digest)
    same = sorted(set(now) - set(differ))
    print("\n".join([*(f"same bytes: {name}" for name in same), *(f"DIFFERENT: {name}" for name in differ)]))
    print(f"{len(same)} passed, {len(differ)} failed")
    return 1 if differ or not same else 0
