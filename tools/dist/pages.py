"""The documentation's site."""

from __future__ import annotations

import shutil
import sys
import zipfile

from packing import pack
from project import DIST, MACHINE, ROOT, WORK, Refused, run, version


def make() -> None:
    """Builds it. Its Python reference describes the package of this release, not an installed one."""
    package = unpacked_wheel()
    folder = WORK / "site"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, ROOT / "site" / "build.py", str(folder), env={"PYTHONPATH": package})
    pack(folder, f"fencepost-site-{version()}")


def unpacked_wheel() -> str:
    """Unpacks the wheel for this machine into a folder, and returns the folder."""
    wheel = next(DIST.glob(f"fencepost-*manylinux*_{MACHINE}.whl"), None)
    if wheel is None:
        raise Refused(f"build/dist has no wheel for {MACHINE}: build the part `wheels` first")
    folder = WORK / "python"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    return str(folder)
