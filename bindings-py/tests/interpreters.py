"""Finds the supported versions of Python.

usage: interpreters.py VERSION
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

VERSIONS = ("3.10", "3.11", "3.12", "3.13")


def interpreter(version: str) -> str:
    """The program of a version of Python: from pyenv, from uv, or on the path."""
    name = f"python{version}"
    ours = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    uvs = Path.home() / ".local" / "bin" / name
    found = str(ours[-1]) if ours else str(uvs) if uvs.exists() else shutil.which(name)
    if found is None:
        sys.exit(f"Python {version} is missing: run `tools/setup python`")
    return found


if __name__ == "__main__":
    print(interpreter(sys.argv[1]))
