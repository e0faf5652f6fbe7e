"""The documentation's site."""

from __future__ import annotations

import shutil
import sys

from packing import pack
from project import ROOT, WORK, run, version


def make() -> None:
    """Builds it."""
    folder = WORK / "site"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, ROOT / "site" / "build.py", str(folder))
    pack(folder, f"fencepost-site-{version()}")
