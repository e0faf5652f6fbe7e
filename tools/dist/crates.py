"""The crates, in the form for the registry. cargo compiles each from its packed files."""

from __future__ import annotations

import shutil

import parts
import sbom
from project import CRATES, DIST, WORK, run, uncommitted, version


def make() -> None:
    """Packs all of them together: the later ones are checked against the earlier ones."""
    packages = [f"--package={name}" for name in CRATES]
    dirty = ["--allow-dirty"] if uncommitted() else []
    run("cargo", "package", "--quiet", "--locked", "--target-dir", str(WORK / "packages"), *dirty, *packages)
    for name in CRATES:
        file = f"{name}-{version()}.crate"
        shutil.copyfile(WORK / "packages" / "package" / file, DIST / file)
        sbom.write(DIST / file, parts.of(name, "all"))
