"""The list of an artefact's parts (SBOM, in the CycloneDX format): the same bytes for the same artefact."""

from __future__ import annotations

import datetime
import hashlib
import json
import uuid
from pathlib import Path
from typing import Any

import parts
from project import time_of_release, version

SUFFIX = ".cdx.json"


def component(part: parts.Part) -> dict[str, Any]:
    """A crate, in the form of the list."""
    known = parts.known()[part]
    described: dict[str, Any] = {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
        "licenses": [{"expression": known.license}],
    }
    if known.sha256:
        described["hashes"] = [{"alg": "SHA-256", "content": known.sha256}]
    return described


def write(artefact: Path, uses: dict[parts.Part, set[parts.Part]]) -> None:
    """Writes an artefact's list beside it. The first crate is the artefact's own."""
    root, *others = uses
    digest = hashlib.sha256(artefact.read_bytes()).hexdigest()
    made = datetime.datetime.fromtimestamp(time_of_release(), datetime.timezone.utc)
    dependencies = [
        {"ref": part.purl, "dependsOn": sorted(each.purl for each in used)} for part, used in uses.items()
    ]
    subject = component(root) | {
        "name": artefact.name,
        "version": version(),
        "type": "file",
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {"timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": subject},
        "components": [component(part) for part in sorted(others)],
        "dependencies": sorted(dependencies, key=lambda each: str(each["ref"])),
    }
    artefact.with_name(artefact.name + SUFFIX).write_text(json.dumps(document, indent=1) + "\n")
