"""The C libraries of a release export exactly the functions in `tests/api`, with the soname's version."""

from __future__ import annotations

import os
import re
from pathlib import Path

from install import ROOT, run

#: A function that libfencepost-redis looks up in its TLS library; no program calls it.
AMONG_THEMSELVES = {"fencepost_redis_tls"}
LIBRARIES = Path(os.environ["FENCEPOST_INSTALLED"]) / "c" / "lib"


def test_the_libraries_export_the_functions_of_the_list() -> None:
    (abi,) = re.findall(r"^ABI := (\d+)$", (ROOT / "bindings-c" / "Makefile").read_text(), re.MULTILINE)
    lines = (ROOT / "tests" / "api" / "c.txt").read_text().splitlines()
    listed = {name for line in lines for name in re.findall(r"^[\w *]*\b(fencepost_\w+)\(", line)}
    exported = [
        line.split()[2]
        for library in LIBRARIES.glob("*.so")
        for line in run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).splitlines()
        if line.split()[1] != "A"
    ]
    assert {name for name in exported if not name.endswith(f"@@FENCEPOST_{abi}")} == set()
    names = [name.partition("@")[0] for name in exported]
    assert set(names) - listed == AMONG_THEMSELVES
    assert listed - set(names) == set()
