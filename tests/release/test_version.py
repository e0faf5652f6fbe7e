"""Cargo.toml has the version, and all copies of it are the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CARGO = (ROOT / "Cargo.toml").read_text()
FOUND = re.search(r'^\[workspace\.package\]\nversion = "(\d+\.\d+\.\d+)"$', CARGO, re.MULTILINE)
assert FOUND
VERSION = FOUND[1]


def test_the_crates_ask_for_each_other_in_this_version() -> None:
    asked = re.findall(r'^fencepost[\w-]* = \{ path = "\S+", version = "(.+?)" \}$', CARGO, re.MULTILINE)
    assert asked == [VERSION] * 6


@pytest.mark.parametrize("manifest", sorted(ROOT.glob("*/Cargo.toml")), ids=lambda path: path.parent.name)
def test_a_crate_has_the_version_of_the_workspace(manifest: Path) -> None:
    assert re.findall(r"^version.*", manifest.read_text(), re.MULTILINE) == ["version.workspace = true"]


@pytest.mark.parametrize("file", ["Cargo.lock", "bindings-rs/tests/oldest/Cargo.lock"])
def test_a_lock_file_has_it(file: str) -> None:
    entries = re.findall(r'^name = "(fencepost[\w-]*)"\nversion = "(.+)"$', (ROOT / file).read_text(), re.M)
    own = {version for name, version in entries if name != "fencepost-oldest"}
    assert own == {VERSION}


def test_the_npm_package_has_it() -> None:
    package, lock = (json.loads((ROOT / "bindings-wasm" / name).read_text()) for name in FILES)
    assert {package["version"], lock["version"], lock["packages"][""]["version"]} == {VERSION}


FILES = ("package.json", "package-lock.json")


def test_the_header_has_it() -> None:
    major, minor, patch = map(int, VERSION.split("."))
    header = (ROOT / "bindings-c" / "include" / "fencepost.h").read_text()
    assert f"#define FENCEPOST_VERSION {major * 10_000 + minor * 100 + patch}\n" in header


def test_the_python_package_and_the_c_libraries_take_it() -> None:
    assert 'dynamic = ["version"]' in (ROOT / "bindings-py" / "pyproject.toml").read_text()
    files = [*(ROOT / "bindings-c").glob("*/*.in"), ROOT / "bindings-c" / "Makefile"]
    assert len(files) > 5
    assert [path.name for path in files if VERSION in path.read_text()] == []
