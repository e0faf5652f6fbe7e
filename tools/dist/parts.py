"""The crates of other authors that are compiled into an artefact, and their data."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from project import ROOT, run

LINE = re.compile(r"(?P<depth>\d+)(?P<name>\S+) v(?P<version>\S+)")


@dataclass(frozen=True, order=True)
class Part:
    """A crate."""

    name: str
    version: str

    @property
    def purl(self) -> str:
        """The crate's name in lists of parts."""
        return f"pkg:cargo/{self.name}@{self.version}"


@dataclass(frozen=True)
class Known:
    """The data of a crate in its manifest and in the lock file."""

    license: str
    folder: Path
    sha256: str | None
    """Of what the registry has; `None` for the project's own."""


@functools.cache
def known() -> dict[Part, Known]:
    """All crates that the lock file names."""
    lock = (ROOT / "Cargo.lock").read_text()
    entry = re.compile(r'^name = "(.+)"\nversion = "(.+)"\n(?:source = .*\nchecksum = "(.+)")?', re.M)
    sums = {Part(name, version): checksum or None for name, version, checksum in entry.findall(lock)}
    metadata = json.loads(run("cargo", "metadata", "--locked", "--format-version", "1"))
    found = {}
    for package in metadata["packages"]:
        part = Part(package["name"], package["version"])
        terms = (package["license"] or "").replace("/", " OR ")
        found[part] = Known(terms, Path(package["manifest_path"]).parent, sums[part])
    return found


def of(package: str, target: str, *options: str) -> dict[Part, set[Part]]:
    """The crates that a package contains for a target, each with its dependencies; the package first.

    `cargo metadata`, and tools that read it, are not suitable: they list the features, and thus the crates,
    that all members of the workspace need together.
    """
    edges = ("--edges", "normal,no-proc-macro", "--prefix", "depth")
    listed = run("cargo", "tree", "--locked", "--package", package, "--target", target, *edges, *options)
    uses: dict[Part, set[Part]] = {}
    above: list[Part] = []
    for line in listed.splitlines():
        read = LINE.match(line)
        assert read, line
        part, depth = Part(read["name"], read["version"]), int(read["depth"])
        del above[depth:]
        if above:
            uses[above[-1]].add(part)
        above.append(part)
        uses.setdefault(part, set())
    return uses


def of_others(package: str, target: str, *options: str) -> list[Part]:
    """The crates of other authors."""
    return sorted(part for part in of(package, target, *options) if known()[part].sha256)
