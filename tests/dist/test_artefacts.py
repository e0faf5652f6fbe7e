"""The artefacts in build/dist: complete, small, with licences and bills of materials, without local paths."""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from install import DIST, MACHINE, ROOT

MIB = 2**20
LIST = ".cdx.json"
VERSION = str(json.loads((ROOT / "bindings-wasm" / "package.json").read_text())["version"])
CRATES = ("fencepost-core", "fencepost-models", "fencepost", "fencepost-cli")
WHEELS = {
    f"fencepost-{VERSION}-cp310-abi3-{tags}_{machine}.whl"
    for machine in ("x86_64", "aarch64")
    for tags in (f"manylinux2014_{machine}.manylinux_2_17", "musllinux_1_2")
}
#: Each artefact, with its greatest size in bytes.
LIMITS = {
    **dict.fromkeys(WHEELS, 1.2 * MIB),
    **{f"{name}-{VERSION}.crate": 1 * MIB for name in CRATES},
    f"fencepost-{VERSION}.tar.gz": 2 * MIB,
    f"fencepost-{VERSION}.tgz": 1 * MIB,
    f"fencepost-{VERSION}-{MACHINE}-linux.tar.xz": 6 * MIB,
    f"libfencepost-{VERSION}-{MACHINE}-linux-gnu.tar.xz": 6 * MIB,
    f"fencepost-site-{VERSION}.tar.xz": 6 * MIB,
}
#: Artefacts with sources or pages: no third-party code is compiled into them.
OWN = re.compile(r"\.crate$|^fencepost-[\d.]+\.tar\.gz$|-site-")


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of an archive, by their paths."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
        return
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.isfile() else None
            if content is not None:
                yield entry.name, content.read()


def test_all_artefacts_are_there() -> None:
    there = {path.name for path in DIST.iterdir() if not path.name.endswith(LIST)}
    assert there - {"SHA256SUMS", "NOTES.md"} == set(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
def test_an_artefact(name: str) -> None:
    path = DIST / name
    assert path.stat().st_size <= LIMITS[name]
    carried = dict(files(path))
    names = {Path(file).name for file in carried}
    if "-site-" not in name:
        assert "LICENSE" in names
    assert OWN.search(name) or "THIRD-PARTY.txt" in names
    places = (str(ROOT), str(Path.home()), os.environ.get("CARGO_HOME", str(Path.home())))
    # With the slash: rustdoc's program has the text "search.index/root".
    here = re.compile("|".join(re.escape(f"{place}/") for place in places).encode())
    for file, content in carried.items():
        found = here.search(content)
        assert found is None, f"{file}: {content[max(0, found.start() - 40) : found.end() + 40]!r}"


@pytest.mark.parametrize("name", sorted(set(LIMITS) - {f"fencepost-site-{VERSION}.tar.xz"}))
def test_a_list_of_parts(name: str) -> None:
    text = (DIST / (name + LIST)).read_text()
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(text) is None
    listed = json.loads(text)
    components = {each["name"] for each in listed["components"]}
    assert "fencepost-core" in components or name.startswith("fencepost-core-")
    assert not {"fencepost-tests", "proc-macro2"} & components
