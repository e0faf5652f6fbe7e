"""The licences of the crates of other authors that are compiled into an artefact, as one text."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import parts
from project import Refused

#: The name of the text in each artefact.
NAME = "THIRD-PARTY.txt"
HEAD = """\
fencepost contains code of other authors. For each crate this is its licence, as its author has published it.
The Rust standard library is in it, too: copyright The Rust Project Contributors, under the same two licences
as most of these crates, Apache-2.0 or MIT: https://www.rust-lang.org/policies/licenses
"""
RULE = "-" * 110
#: Licences whose text names no author, and a crate that contains the text: for crates without a text.
SAME_FOR_ALL = {"Apache-2.0": ("serde", "LICENSE-APACHE")}
#: If an author allows a choice, the first of these.
CHOICE = ("MIT", "Apache-2.0", "Unlicense", "ISC")


def files(folder: Path) -> dict[str, str]:
    """The licences and notices in a crate, by their names in capitals."""
    named = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)\b.*", re.IGNORECASE)
    return {
        path.name.upper(): path.read_text()
        for path in sorted(folder.iterdir())
        if path.is_file() and named.match(path.name)
    }


def chosen(terms: str, carried: dict[str, str]) -> list[str]:
    """The files of a crate that an artefact must include."""
    if " OR " in terms and " AND " not in terms:
        offered = re.split(r" OR ", terms)
        for name in CHOICE:
            of_name = [text for file, text in carried.items() if name.split("-")[0].upper() in file]
            if name in offered and of_name:
                return of_name
    return list(carried.values())


def standard(terms: str) -> list[str]:
    """The text of a licence without an author's name."""
    if terms not in SAME_FOR_ALL:
        return []
    crate, file = SAME_FOR_ALL[terms]
    folder = next(known.folder for part, known in sorted(parts.known().items()) if part.name == crate)
    return [files(folder)[file]]


def of(package: str, target: str, *options: str) -> str:
    """The licences of all crates that are compiled into a package; crates with the same text share it."""
    texts: dict[str, list[str]] = defaultdict(list)
    without = []
    for part in parts.of_others(package, target, *options):
        known = parts.known()[part]
        found = chosen(known.license, files(known.folder)) or standard(known.license)
        if not found:
            without.append(f"{part.name} {part.version} ({known.license})")
        for text in found:
            clean = "\n".join(line.rstrip() for line in text.strip().splitlines())
            texts[clean].append(f"{part.name} {part.version} ({known.license})")
    if without:
        raise Refused(
            f"no licence in {', '.join(without)}: find its text, and name it in tools/dist/notices.py"
        )
    sections = []
    for text, names in sorted(texts.items(), key=lambda each: each[1]):
        sections.append("\n".join((RULE, *names, RULE, "", text, "")))
    return "\n".join((HEAD, *sections))
