"""Third-party code in the artefacts: each crate is listed, with the text of its licence."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "dist"))
import notices  # noqa: E402
import parts  # noqa: E402
import sbom  # noqa: E402

GNU = "x86_64-unknown-linux-gnu"
#: The compiled packages, each with one of its targets and a crate that it contains.
SHIPPED = {
    "fencepost-py": (GNU, "pyo3"),
    "fencepost-c": (GNU, "serde_json"),
    "fencepost-cli": (GNU, "ring"),
    "fencepost-wasm": ("wasm32-unknown-unknown", "talc"),
    "fencepost-wasm-memory": ("wasm32-unknown-unknown", "talc"),
}


@pytest.mark.parametrize("package", SHIPPED)
def test_the_licences_of_all_that_is_compiled_in(package: str) -> None:
    target, known = SHIPPED[package]
    text = notices.of(package, target)
    named = set(re.findall(r"^([\w-]+) ([\w.+-]+) \(.+\)$", text, re.MULTILINE))
    others = parts.of_others(package, target)
    assert named == {(part.name, part.version) for part in others}
    assert known in {part.name for part in others}
    # Crates that run only in the compiler are not included.
    assert not {"syn", "proc-macro2", "serde_derive"} & {part.name for part in others}
    assert "Permission is hereby granted, free of charge" in text


def test_a_crate_without_a_licence_text_gets_one_without_a_name() -> None:
    assert [text.split()[:2] for text in notices.standard("Apache-2.0")] == [["Apache", "License"]]
    assert notices.standard("MIT") == []


def test_a_list_of_parts(tmp_path: Path) -> None:
    artefact = tmp_path / "libfencepost.tar.xz"
    artefact.write_bytes(b"an archive")
    uses = parts.of("fencepost-c", GNU)
    sbom.write(artefact, uses)
    text = artefact.with_name(artefact.name + sbom.SUFFIX).read_text()
    listed = json.loads(text)
    subject = listed["metadata"]["component"]
    assert subject["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"an archive").hexdigest()}]
    components = {each["name"]: each for each in listed["components"]}
    assert {"fencepost-core", "sha2", "serde_json"} <= set(components)
    assert len(components["sha2"]["hashes"][0]["content"]) == 64
    assert "hashes" not in components["fencepost-core"]
    references = {each["ref"] for each in listed["dependencies"]}
    assert references == {subject["bom-ref"], *(each["bom-ref"] for each in listed["components"])}
    assert {ref for each in listed["dependencies"] for ref in each["dependsOn"]} <= references
    assert str(ROOT) not in text
    sbom.write(artefact, uses)
    assert artefact.with_name(artefact.name + sbom.SUFFIX).read_text() == text
