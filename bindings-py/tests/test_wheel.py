"""The contents of a wheel and a source distribution."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LICENSE = (ROOT.parent / "LICENSE").read_bytes()


def maturin(*arguments: str) -> None:
    program = Path(sys.executable).with_name("maturin")
    subprocess.run([program, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_a_wheel_carries_the_license(tmp_path: Path) -> None:
    # The wheel contains this folder as it is. Nothing has to be compiled for it.
    maturin(
        "pep517", "write-dist-info", "--metadata-directory", str(tmp_path), "--interpreter", sys.executable
    )
    (folder,) = tmp_path.glob("fencepost-*.dist-info")
    assert (folder / "licenses" / "LICENSE").read_bytes() == LICENSE
    metadata = (folder / "METADATA").read_text()
    assert "License-Expression: MIT\n" in metadata
    assert "License-File: LICENSE\n" in metadata


def test_a_source_distribution_carries_the_license(tmp_path: Path) -> None:
    maturin("sdist", "--out", str(tmp_path))
    (archive,) = tmp_path.glob("fencepost-*.tar.gz")
    with tarfile.open(archive) as sources:
        carried = sources.extractfile(f"{archive.name.removesuffix('.tar.gz')}/LICENSE")
        assert carried is not None
        assert carried.read() == LICENSE
