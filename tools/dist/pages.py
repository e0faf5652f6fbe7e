"""The documentation's site."""

from __future__ import annotations

import shutil
import sys
import zipfile

import wheels
from packing import pack
from project import DIST, HERE, MACHINE, ROOT, WORK, run, version


def make() -> None:
    """Builds it. Its Python reference describes the package of this release, not an installed one."""
    package = unpacked_wheel()
    folder = WORK / "site"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, ROOT / "site" / "build.py", str(folder), env={"PYTHONPATH": package})
    pack(folder, f"fencepost-site-{version()}")


def unpacked_wheel() -> str:
    """Returns a folder with the unpacked wheel for this machine. Builds the wheel if there is none."""
    name = f"fencepost-{version()}-*manylinux*_{MACHINE}.whl"
    wheel = next(DIST.glob(name), None)
    if wheel is None:
        wheels.make("here")
        (wheel,) = HERE.glob(name)
    folder = WORK / "python"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    return str(folder)
