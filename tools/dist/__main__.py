"""Builds all artefacts of a release into build/dist.

usage: .venv/bin/python tools/dist [--unclean] [PART [TARGET …]]
       .venv/bin/python tools/dist notes | compare

Without a PART, it builds all of them from a clean tree into an empty folder, checks the licences of all
dependencies, and compares the API with the last release's. On the tag of the version it adds the notes. A
PART is `wheels`, `javascript`, `crates`, `c`, `command` or `site`: the tool builds only this part, and keeps
the existing files; `sums` writes a new SHA256SUMS. `wheels` takes the names of platforms; `here` is this
machine's, and `wheels here` builds into build/wheels/here. `notes` prints CHANGELOG's section of the version,
`compare` the changes of the API.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable

import changes
import clibrary
import command
import crates
import javascript
import packing
import pages
import wheels
from project import DIST, Refused, check_clean, run, tool, version

PARTS: dict[str, Callable[..., None]] = {
    "wheels": wheels.make,
    "javascript": javascript.make,
    "crates": crates.make,
    "c": clibrary.make,
    "command": command.make,
    "site": pages.make,
    "sums": packing.write_sums,
}
SHOWN: dict[str, Callable[[], str]] = {"notes": changes.notes, "compare": changes.compare}


def check_licences() -> None:
    """Checks that dependencies have only the licences and sources in deny.toml."""
    print(
        run(tool("cargo-deny"), "--locked", "check", "--hide-inclusion-graph", "licenses", "bans", "sources")
    )


def make_all() -> None:
    """Builds everything."""
    check_licences()
    print(changes.compare())
    tagged = f"v{version()}" in run("git", "tag", "--points-at", "HEAD").split()
    notes = changes.notes() if tagged else None
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    if notes is not None:
        (DIST / "NOTES.md").write_text(notes)
    for name, make in PARTS.items():
        print(f"tools/dist: {name}", flush=True)
        make()


def main(arguments: list[str]) -> None:
    """Runs the command of the arguments."""
    unclean = "--unclean" in arguments
    words = [word for word in arguments if word != "--unclean"]
    if words and words[0] in SHOWN and len(words) == 1:
        print(SHOWN[words[0]](), end="")
    elif not words:
        if not unclean:
            check_clean()
        make_all()
    elif words[0] in PARTS and (words[0] == "wheels" or len(words) == 1):
        if words[0] != "wheels":
            DIST.mkdir(parents=True, exist_ok=True)
        PARTS[words[0]](*words[1:])
    else:
        raise Refused(f"unknown: {' '.join(words)}. Give one of {', '.join([*PARTS, *SHOWN])}, or nothing")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Refused as why:
        sys.exit(f"tools/dist: {why}")
