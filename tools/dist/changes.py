"""The changes of a release: the notes from CHANGELOG.md, and the API compared with the last release."""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterator

from project import ROOT, Refused, run, version

#: The lists of the public API, one item a line, for each language: `tools/api` writes them.
API = "tests/api"


def notes() -> str:
    """CHANGELOG's section of the version."""
    text = (ROOT / "CHANGELOG.md").read_text()
    section = re.search(
        rf"^## \[{re.escape(version())}\](?: - \d{{4}}-\d\d-\d\d)?\n(.*?)(?=^## |\Z)", text, re.M | re.S
    )
    if section is None:
        wanted = f"## [{version()}] - YYYY-MM-DD"
        raise Refused(f"CHANGELOG.md has no section `{wanted}`: give the section Unreleased this name")
    if not re.search(r"^- ", section[1], re.M):
        raise Refused(f"CHANGELOG.md has nothing in the section of {version()}: write what a user sees")
    return section[1].strip() + "\n"


def last_release() -> str | None:
    """The tag of the last release before this version; `None` if there is none."""
    tags = run("git", "tag", "--merged", "HEAD", "--sort=-version:refname", "--list", "v*").split()
    return next((tag for tag in tags if tag != f"v{version()}"), None)


def at(tag: str, path: str) -> str:
    """A file of a release; empty if the release does not have it."""
    shown = subprocess.run(
        ("git", "show", f"{tag}:{path}"), cwd=ROOT, capture_output=True, text=True, check=False
    )
    return shown.stdout


def compatible(old: str, new: str) -> bool:
    """Whether cargo and npm accept the new version for a program that requires the old one."""
    numbers = [[int(part) for part in each.removeprefix("v").split(".")] for each in (old, new)]
    kept = 1 if numbers[0][0] > 0 else 2
    return numbers[0][:kept] == numbers[1][:kept]


def soname(makefile: str) -> str:
    """The number in the names of the C libraries."""
    found = re.search(r"^ABI := (\d+)$", makefile, re.M)
    assert found is not None
    return found[1]


def differences(tag: str) -> Iterator[tuple[str, list[str]]]:
    """For each language, the removed (`-`) and added (`+`) lines since a release."""
    names = run("git", "ls-tree", "--name-only", tag, f"{API}/").split()
    listed = [name for name in names if name.endswith(".txt")]
    there = [f"{API}/{path.name}" for path in (ROOT / API).glob("*.txt")]
    # If a list no longer exists, all its lines are removed.
    for name in sorted({*listed, *there}):
        path = ROOT / name
        before = at(tag, name).splitlines()
        now = path.read_text().splitlines() if path.exists() else []
        lines = difflib.unified_diff(before, now, tag, "now", lineterm="", n=0)
        changed = [line for line in lines if line[0] in "+-" and not line.startswith(("+++", "---"))]
        if changed:
            yield path.stem, changed


def compare() -> str:
    """The changes of the API. Raises an error if a change breaks programs but the version is compatible."""
    tag = last_release()
    if tag is None:
        return "There is no earlier release.\n"
    found = dict(differences(tag))
    broken = [name for name, lines in found.items() if any(line.startswith("-") for line in lines)]
    if broken and compatible(tag, version()):
        raise Refused(
            f"{version()} promises that programs for {tag} work, but lines have gone from {API} "
            f"({', '.join(broken)}). Keep what has gone, or raise the version in Cargo.toml. "
            f"`git diff {tag} -- {API}` shows the lines"
        )
    makefile = "bindings-c/Makefile"
    if "c" in broken and soname(at(tag, makefile)) == soname((ROOT / makefile).read_text()):
        raise Refused(f"C's ABI has lost lines since {tag}: raise ABI in {makefile}")
    shown = [f"{name}, since {tag}:\n" + "\n".join(lines) for name, lines in found.items()]
    return "\n\n".join(shown or [f"The API is that of {tag}."]) + "\n"
