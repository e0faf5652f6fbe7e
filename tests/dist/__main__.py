"""Installs only what `make dist` has built, and runs suites of the project with it.

usage: .venv/bin/python tests/dist [SUITE …]
       .venv/bin/python tests/dist again [PART …]

The suites start the servers that they need. `again` builds the release, or parts of it, once more from a
clone in another folder, with another home directory, and compares the bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import again
import install
from install import ROOT

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
SERVERS = ("python3", str(ROOT / "tests" / "servers"), "run", "--")
JAVASCRIPT = str(ROOT / "bindings-wasm" / "scripts" / "test.mjs")
#: The tests that need no bundler: Vite itself does not run on the oldest Node.js.
IN_EVERY_NODE = ("examples", "runtimes", "libraries")
HERE = Path(__file__).parent
README = ROOT / "tests" / "readme"


def suites(folder: Path) -> dict[str, tuple[Path, tuple[str, ...], dict[str, str]]]:
    """Each suite's folder, command and variables."""
    package = {"FENCEPOST_PACKED": str(install.only("fencepost-*.tgz"))}
    archive = install.only(f"libfencepost-*-{install.MACHINE}-linux-gnu.tar.xz")
    python = ROOT / "bindings-py"
    found: dict[str, tuple[Path, tuple[str, ...], dict[str, str]]] = {
        "artefacts": (ROOT, (*SERVERS, *PYTEST, *map(str, sorted(HERE.glob("test_*.py")))), {}),
        "python": (python, (*PYTEST, "-n", "2", "tests/test_packages.py"), {}),
        "c": (ROOT, (*SERVERS, sys.executable, "bindings-c/tests/install", str(archive)), {}),
        "readme": (
            ROOT,
            (*SERVERS, *PYTEST, str(README / "test_readme.py"), str(README / "test_guides.py")),
            {},
        ),
        "docs": (
            ROOT,
            (*SERVERS, *PYTEST, str(README / "test_docs.py"), str(README / "test_command.py")),
            {},
        ),
        "elsewhere": (ROOT, (*PYTEST, "tests/dist/elsewhere/test_wheels.py"), {}),
        "bundles": (ROOT, ("node", JAVASCRIPT, "bundles"), package),
    }
    for version in ("20.16", "22", "24"):
        programs = install.NODES / f"node-{version}" / "bin"
        path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        # Without npm, which does not run on the oldest version.
        found[f"node-{version}"] = (ROOT, ("node", JAVASCRIPT, *IN_EVERY_NODE), package | path)
    return found


def main(words: list[str]) -> int:
    """Runs the suites. Returns 1 if one of them fails."""
    if words[:1] == ["again"]:
        return again.main(words[1:])
    failed = []
    with tempfile.TemporaryDirectory(prefix="fencepost-dist-") as scratch:
        folder = Path(scratch)
        known = suites(folder)
        unknown = sorted(set(words) - set(known))
        if unknown:
            sys.exit(f"tests/dist: no suite {unknown[0]}: give one of {', '.join(known)}")
        install.check_sums()
        install.everything(folder)
        for name in words or known:
            cwd, command, variables = known[name]
            env = {**os.environ, **variables, "FENCEPOST_INSTALLED": scratch}
            suite = (str(ROOT / "tools" / "suite"), f"dist-{name}", *command)
            if subprocess.run(suite, cwd=cwd, env=env, check=False).returncode != 0:
                failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all suites have passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
