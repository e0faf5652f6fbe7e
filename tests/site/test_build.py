"""A failed build of the site prints what to do, and does not change the existing site."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "site"))
import api  # noqa: E402

import build  # noqa: E402

#: The files that the playground needs in a checkout.
NEEDED = ["bindings-wasm/dist/modules", "bindings-wasm/dist/entries"]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the files that the program needs; its tools write a page and a script, or fail."""
    checkout = tmp_path / "checkout"
    for name in (*NEEDED, ".venv/bin"):
        (checkout / name).mkdir(parents=True)
    (checkout / ".venv" / "bin" / "mdbook").touch()
    monkeypatch.setattr(build, "ROOT", checkout)
    monkeypatch.setattr(build, "stage", lambda _: None)
    monkeypatch.setattr(build, "run", tools())
    monkeypatch.setattr(api, "build", lambda *_: None)
    return checkout


def tools(failing: str = "") -> object:
    """Replaces `run`."""

    def run(*command: str | Path) -> None:
        name = Path(command[0]).name
        if name == failing:
            raise build.BadPage(f"{name} ended with 1")
        if name == "mdbook":
            site = Path(command[command.index("--dest-dir") + 1])
            site.mkdir(exist_ok=True)
            (site / "index.html").write_text("new")
        else:
            (Path(command[-1]) / "code").mkdir(parents=True)

    return run


def test_a_build_replaces_what_was_there(checkout: Path, tmp_path: Path) -> None:
    destination = tmp_path / "build" / "site"
    build.build(destination)
    (destination / "old.html").write_text("old")
    build.build(destination)
    assert sorted(path.name for path in destination.iterdir()) == ["index.html", "playground"]
    assert [path.name for path in destination.parent.iterdir()] == ["site"]
    # A web server may run as another user.
    assert destination.stat().st_mode & 0o777 == checkout.stat().st_mode & 0o777


@pytest.mark.parametrize("failing", ["mdbook", "node"])
def test_a_build_that_fails_leaves_the_former_site(
    failing: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    destination = tmp_path / "build" / "site"
    monkeypatch.setattr(build, "run", tools(failing))
    with pytest.raises(build.BadPage):
        build.build(destination)
    assert not destination.exists()
    destination.mkdir(parents=True)
    (destination / "index.html").write_text("former")
    with pytest.raises(build.BadPage):
        build.build(destination)
    assert {path.name: path.read_text() for path in destination.iterdir()} == {"index.html": "former"}
    assert [path.name for path in destination.parent.iterdir()] == ["site"]


@pytest.mark.parametrize("missing", NEEDED)
def test_what_is_missing_is_named_with_what_makes_it(missing: str, checkout: Path, tmp_path: Path) -> None:
    (checkout / missing).rmdir()
    expected = re.escape(f"{checkout / missing} is missing: run make build-wasm")
    with pytest.raises(build.BadPage, match=expected):
        build.build(tmp_path / "site")
    assert not (tmp_path / "site").exists()
