"""The wheels for another processor or C library run in Pythons that `tools/setup release` installs."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "dist"))
from install import MACHINE, only, run  # noqa: E402

#: Debian's Python for aarch64, which runs under qemu here.
AARCH64 = ROOT / "build" / "elsewhere" / "arm64"
QEMU = ROOT / "build" / "elsewhere" / "here" / "usr" / "bin" / "qemu-aarch64-static"
WHEELS: dict[str, tuple[tuple[object, ...], str]] = {
    "manylinux*_aarch64": (
        (QEMU, "-L", AARCH64, AARCH64 / "usr" / "bin" / "python3.11"),
        "aarch64-linux-gnu",
    ),
    f"musllinux_*_{MACHINE}": ((ROOT / "build" / "musl" / "python",), f"{MACHINE}-linux-musl"),
}
README = (ROOT / "README.md").read_text()
PROGRAMS = [
    program for program in re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S) if "memory:" in program
]


@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_readme(wheel: str, program: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(only(f"fencepost-*-{wheel}.whl")) as archive:
        archive.extractall(tmp_path)
    python, platform = WHEELS[wheel]
    multiarch = "import sysconfig; print(sysconfig.get_config_var('MULTIARCH'))"
    assert run(*python, "-W", "error", "-c", multiarch) == f"{platform}\n"
    assert run(*python, "-W", "error", "-c", program, cwd=tmp_path, PYTHONPATH=str(tmp_path)) != ""
