"""The notes of a release, and its allowed changes of the API: tests the tool in a small repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CHANGELOG = """\
# Changelog

## [Unreleased]

## [{version}] - 2027-01-02

### Added

- **A thing**, for all.

## [0.0.1] - 2026-01-02

- The old one.
"""


class Repository:
    """A repository with the files that the tool reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "tools" / "dist", folder / "tools" / "dist")
        self.write("bindings-c/Makefile", "ABI := 0\n")
        self.write("tests/api/c.txt", "int fencepost_a(void)\nint fencepost_b(void)\n")
        self.write("tests/api/python.txt", "fencepost.a\n")
        self.write("CHANGELOG.md", CHANGELOG.format(version="0.1.0"))
        self.write(".gitignore", "__pycache__\n")
        self.version("0.1.0")
        self.git("init", "--quiet")
        self.commit()

    def write(self, name: str, text: str) -> None:
        """Writes a file."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def version(self, version: str) -> None:
        """Sets the version."""
        self.write("Cargo.toml", f'[workspace.package]\nversion = "{version}"\n')

    def git(self, *arguments: str) -> None:
        """Runs git."""
        own = ("-c", "user.name=tests", "-c", "user.email=tests@localhost", "-c", "commit.gpgSign=false")
        subprocess.run(["git", *own, *arguments], cwd=self.folder, check=True)

    def commit(self) -> None:
        """Commits all files."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A commit")

    def said(self, *arguments: str) -> tuple[int, str]:
        """The exit code and the output of the tool."""
        command = [sys.executable, "tools/dist", *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_the_notes_are_the_section_of_the_version(repository: Repository) -> None:
    assert repository.said("notes") == (0, "### Added\n\n- **A thing**, for all.\n")


def test_no_section_and_an_empty_one_are_errors(repository: Repository) -> None:
    repository.version("0.2.0")
    code, text = repository.said("notes")
    assert code == 1
    assert "CHANGELOG.md has no section `## [0.2.0] - YYYY-MM-DD`" in text
    repository.write("CHANGELOG.md", "## [0.2.0] - 2027-02-02\n\n### Added\n\n## [0.1.0]\n\n- Something.\n")
    code, text = repository.said("notes")
    assert code == 1
    assert "nothing in the section of 0.2.0" in text


def test_a_tree_that_is_not_clean_is_refused(repository: Repository) -> None:
    repository.write("core/src/new.rs", "")
    code, text = repository.said()
    assert code == 1
    assert "1 files differ from the commit:\n?? core/src/new.rs\n" in text
    assert not (repository.folder / "build").exists()


def test_the_first_release_is_compared_with_none(repository: Repository) -> None:
    repository.git("tag", "v0.1.0")
    assert repository.said("compare") == (0, "There is no earlier release.\n")


@pytest.fixture
def released(repository: Repository) -> Repository:
    repository.git("tag", "v0.1.0")
    repository.version("0.1.1")
    repository.commit()
    return repository


def test_the_same_api_says_so(released: Repository) -> None:
    assert released.said("compare") == (0, "The API is that of v0.1.0.\n")


def test_what_has_come_is_shown(released: Repository) -> None:
    released.write("tests/api/python.txt", "fencepost.a\nfencepost.b\n")
    assert released.said("compare") == (0, "python, since v0.1.0:\n+fencepost.b\n")


@pytest.mark.parametrize(("old", "new"), [("0.1.0", "0.1.1"), ("1.1.0", "1.2.0")])
def test_what_has_gone_needs_a_version_that_says_so(repository: Repository, old: str, new: str) -> None:
    repository.version(old)
    repository.commit()
    repository.git("tag", f"v{old}")
    repository.version(new)
    repository.write("tests/api/python.txt", "")
    code, text = repository.said("compare")
    assert code == 1
    assert f"{new} promises that programs for v{old} work" in text
    repository.version("0.2.0" if old.startswith("0") else "2.0.0")
    code, text = repository.said("compare")
    assert (code, text) == (0, f"python, since v{old}:\n-fencepost.a\n")


def test_what_has_gone_from_c_needs_another_soname(released: Repository) -> None:
    released.version("0.2.0")
    released.write("tests/api/c.txt", "int fencepost_b(void)\n")
    code, text = released.said("compare")
    assert code == 1
    assert "raise ABI in bindings-c/Makefile" in text
    released.write("bindings-c/Makefile", "ABI := 1\n")
    assert released.said("compare")[0] == 0


def test_a_list_that_is_deleted_has_lost_all_its_lines(released: Repository) -> None:
    (released.folder / "tests" / "api" / "c.txt").unlink()
    code, text = released.said("compare")
    assert code == 1
    assert "lines have gone from tests/api (c)" in text
    released.version("0.2.0")
    assert "raise ABI in bindings-c/Makefile" in released.said("compare")[1]
    released.write("bindings-c/Makefile", "ABI := 1\n")
    gone = "c, since v0.1.0:\n-int fencepost_a(void)\n-int fencepost_b(void)\n"
    assert released.said("compare") == (0, gone)
    # Removes all lists, with their folder.
    shutil.rmtree(released.folder / "tests")
    assert released.said("compare") == (0, f"{gone}\npython, since v0.1.0:\n-fencepost.a\n")


def test_a_list_that_is_new_is_shown(released: Repository) -> None:
    released.write("tests/api/typescript.txt", "fencepost.a(): void\n")
    assert released.said("compare") == (0, "typescript, since v0.1.0:\n+fencepost.a(): void\n")


@pytest.mark.parametrize("words", [("wheel",), ("notes", "all"), ("c", "here"), ("wheels", "sparc")])
def test_what_it_does_not_know_is_named(repository: Repository, words: tuple[str, ...]) -> None:
    code, text = repository.said(*words)
    assert code == 1
    assert words[-1] in text
