"""The wheel for aarch64 runs: in Debian's Python for that processor, which qemu runs on this one."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "dist"))
from install import only, run  # noqa: E402

FOLDER = ROOT / "build" / "elsewhere"
QEMU = FOLDER / "here" / "usr" / "bin" / "qemu-aarch64-static"
SYSTEM = FOLDER / "arm64"
README = (ROOT / "README.md").read_text()
PROGRAMS = [
    program for program in re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S) if "memory:" in program
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_readme(program: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(only("fencepost-*-manylinux*_aarch64.whl")) as wheel:
        wheel.extractall(tmp_path)
    python = (QEMU, "-L", SYSTEM, SYSTEM / "usr" / "bin" / "python3.11", "-W", "error")
    machine = run(*python, "-c", "import platform; print(platform.machine())")
    assert machine == "aarch64\n"
    assert run(*python, "-c", program, cwd=tmp_path, PYTHONPATH=str(tmp_path)) != ""
