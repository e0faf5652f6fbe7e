"""The site of a release describes the Python package of that release, on a machine that has no other."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "dist"))
import pages  # noqa: E402
import project  # noqa: E402
import wheels  # noqa: E402


def wheel(folder: Path, text: str) -> None:
    """Writes a wheel for this machine with one file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"fencepost-{project.version()}-cp310-abi3-manylinux_2_17_{project.MACHINE}.whl"
    with zipfile.ZipFile(folder / name, "w") as files:
        files.writestr("fencepost/__init__.py", text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the empty folders `dist` and `here` for wheels."""
    for name in ("dist", "here", "work"):
        monkeypatch.setattr(pages, name.upper(), tmp_path / name)
    return tmp_path


def test_the_site_gets_the_package_of_the_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(folder / "dist", "of the release")
    given = {}
    monkeypatch.setattr(pages, "run", lambda *_, env: given.update(env))
    monkeypatch.setattr(pages, "pack", lambda *_: None)
    pages.make()
    assert (Path(given["PYTHONPATH"]) / "fencepost" / "__init__.py").read_text() == "of the release"


def test_without_a_wheel_it_builds_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(target: str) -> None:
        assert target == "here"
        wheel(folder / "here", "built now")

    monkeypatch.setattr(wheels, "make", make)
    assert (Path(pages.unpacked_wheel()) / "fencepost" / "__init__.py").read_text() == "built now"
