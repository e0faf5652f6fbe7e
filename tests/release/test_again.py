"""A second build of a release has the same files with the same bytes. Tests the tool that checks this."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "dist"))
import again  # noqa: E402

#: The files of each part of a release.
PARTS = {
    "wheels": ["fencepost-1.0.0-cp310-abi3-musllinux_1_2_x86_64.whl", "fencepost-1.0.0.tar.gz"],
    "javascript": ["fencepost-1.0.0.tgz"],
    "crates": ["fencepost-1.0.0.crate", "fencepost-core-1.0.0.crate", "fencepost-cli-1.0.0.crate"],
    "c": ["libfencepost-1.0.0-x86_64-linux-gnu.tar.xz"],
    "command": ["fencepost-1.0.0-x86_64-linux.tar.xz"],
    "site": ["fencepost-site-1.0.0.tar.xz"],
}
LISTS = {
    part: [name + ending for name in names for ending in ("", ".cdx.json")][: 1 if part == "site" else None]
    for part, names in PARTS.items()
}
ALL = [name for names in LISTS.values() for name in names]


class Builds:
    """A release, and the files of its second build."""

    def __init__(self, folder: Path) -> None:
        self.dist = folder / "build" / "dist"
        self.dist.mkdir(parents=True)
        (folder / "bindings-wasm" / "node_modules").mkdir(parents=True)
        self.second: dict[str, str] = {}
        self.release(*ALL)
        (self.dist / "SHA256SUMS").write_text("its sums")

    def release(self, *names: str) -> None:
        """Writes files of the release."""
        for name in names:
            (self.dist / name).write_text(name)

    def run(self, command: list[str], cwd: Path | None = None, **_: object) -> None:
        """Replaces git and the build tool."""
        if cwd is None:
            Path(command[-1]).mkdir()
            return
        (cwd / "build" / "dist").mkdir(parents=True, exist_ok=True)
        for name in LISTS.get(command[-1], [*ALL, "NOTES.md"]):
            if name in self.second:
                (cwd / "build" / "dist" / name).write_text(self.second[name])


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builds:
    builds = Builds(tmp_path)
    builds.second = {name: name for name in ALL}
    monkeypatch.setattr(again, "ROOT", tmp_path)
    monkeypatch.setattr(again, "DIST", builds.dist)
    monkeypatch.setattr(subprocess, "run", builds.run)
    return builds


@pytest.mark.parametrize("parts", [[], ["wheels"], ["command", "site"], ["c", "crates", "javascript"]])
def test_the_same_bytes_pass(builds: Builds, parts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert again.main(parts) == 0
    count = sum(len(LISTS[part]) for part in parts or LISTS)
    assert capsys.readouterr().out.endswith(f"\n{count} passed, 0 failed\n")


@pytest.mark.parametrize("name", ALL)
def test_other_bytes_and_a_file_that_is_missing_are_named(
    builds: Builds, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (part,) = (part for part, names in LISTS.items() if name in names)
    for parts in ([], [part]):
        builds.second[name] = "other bytes"
        assert again.main(parts) == 1
        assert f"DIFFERENT: {name}\n" in capsys.readouterr().out
        del builds.second[name]
        assert again.main(parts) == 1
        assert f"MISSING: {name}\n" in capsys.readouterr().out


def test_a_file_that_only_the_second_build_has_is_named(
    builds: Builds, capsys: pytest.CaptureFixture[str]
) -> None:
    builds.second["NOTES.md"] = "notes"
    assert again.main([]) == 1
    assert "NEW: NOTES.md\n" in capsys.readouterr().out


@pytest.mark.parametrize("parts", [[], ["wheels"]])
def test_nothing_at_all_is_no_success(builds: Builds, parts: list[str]) -> None:
    for path in builds.dist.iterdir():
        path.unlink()
    builds.second = {}
    assert again.main(parts) == 1


def test_a_part_that_there_is_not_is_named(builds: Builds) -> None:
    with pytest.raises(SystemExit, match="no part sums"):
        again.main(["c", "sums"])
