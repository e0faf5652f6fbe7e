"""Writes the public API, one item a line, into tests/api: a file for each language.

usage: .venv/bin/python tools/api [--check]

With --check, it compares instead. In a review, the lists show the effect of a change for users. A release
compares its lists with those of the last release: see tools/dist.
"""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import headers
import rust
import stubs

ROOT = Path(__file__).resolve().parents[2]
API = ROOT / "tests" / "api"


def types() -> list[str]:
    """The types of the package that `make build-wasm` has built, from the TypeScript compiler."""
    command = ["node", str(ROOT / "bindings-wasm" / "scripts" / "api.mjs")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


LANGUAGES: dict[str, Callable[[], list[str]]] = {
    "c": headers.lines,
    "python": stubs.lines,
    "rust": rust.lines,
    "typescript": types,
}


def main(arguments: list[str]) -> str | None:
    """Writes or compares. Returns an error text, or None."""
    if arguments not in ([], ["--check"]):
        return "tools/api: give --check, or nothing"
    differs: list[str] = []
    for name, read in LANGUAGES.items():
        path, now = API / f"{name}.txt", read()
        if not arguments:
            path.write_text("".join(f"{line}\n" for line in now))
            continue
        before = path.read_text().splitlines()
        shown = str(path.relative_to(ROOT))
        differs.extend(difflib.unified_diff(before, now, shown, "the sources", lineterm="", n=1))
    if differs:
        print("\n".join(differs))
        return "The API has changed: run `make api`, and write the change into CHANGELOG.md."
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
