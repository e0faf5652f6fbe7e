"""The build of the wheel for the checkout's tests does not change a release beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "dist"))
import parts  # noqa: E402
import sbom  # noqa: E402
import wheels  # noqa: E402
from project import MACHINE  # noqa: E402

WHEEL = f"fencepost-0.1.0-cp310-abi3-manylinux_2_17_{MACHINE}.whl"
SOURCES = "fencepost-0.1.0.tar.gz"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `build` with a release, in a checkout whose compilers write short files."""
    build = tmp_path / "build"
    released = build / "dist"
    released.mkdir(parents=True)
    for name in (WHEEL, WHEEL.replace(MACHINE, "sparc"), SOURCES, "SHA256SUMS"):
        (released / name).write_text("released")

    def compile_wheel(_: str, folder: Path) -> Path:
        folder.mkdir(parents=True)
        (folder / WHEEL).write_text("built")
        return folder / WHEEL

    monkeypatch.setattr(wheels, "ROOT", tmp_path)
    for name in ("DIST", "HERE"):
        monkeypatch.setattr(wheels, name, tmp_path / getattr(wheels, name).relative_to(ROOT))
    monkeypatch.setattr(wheels, "build", compile_wheel)
    monkeypatch.setattr(wheels, "repack", lambda wheel, into, _: wheel.rename(into / wheel.name))
    monkeypatch.setattr(wheels, "maturin", lambda *words: (Path(words[-1]) / SOURCES).write_text("built"))
    monkeypatch.setattr(parts, "of", lambda *_: {})
    monkeypatch.setattr(sbom, "write", lambda *_: None)
    return build


def files(folder: Path) -> dict[str, str]:
    """The names and texts of a folder's files."""
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_the_wheel_for_this_machine_leaves_a_release_as_it_is(build: Path) -> None:
    before = files(build / "dist")
    wheels.make("here")
    assert files(build / "dist") == before
    assert files(build / "wheels" / "here") == {WHEEL: "built", SOURCES: "built"}


def test_a_second_build_replaces_the_first(build: Path) -> None:
    here = build / "wheels" / "here"
    here.mkdir(parents=True)
    for name in ("fencepost-0.0.1-cp310-abi3-manylinux_2_17_x86_64.whl", "fencepost-0.0.1.tar.gz"):
        (here / name).write_text("built before")
    wheels.make("here")
    assert sorted(files(here)) == sorted([WHEEL, SOURCES])


def test_a_wheel_that_is_named_is_part_of_a_release(build: Path) -> None:
    wheels.make(f"{MACHINE}-unknown-linux-gnu")
    assert files(build / "dist") == {WHEEL: "built", SOURCES: "built", "SHA256SUMS": "released"}
