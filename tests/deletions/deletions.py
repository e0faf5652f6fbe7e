"""The list of safety checks, and the change to the sources that deletes each.

A deletion has a text to search for in one file, and the text that replaces it. The file must contain the text
exactly once. Line breaks and indentation do not matter, so that a formatter cannot break the list.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: The detectors of deletions: package, test, and the test's functions. Without a test, the functions are in
#: the package's sources.
DETECTORS = {
    "seeds": ("fencepost-simulator", "simulator", "every_machine_keeps_its_promises"),
    "scenario": ("fencepost-simulator", "scenarios", "every_scenario_keeps_its_promises"),
    "operations": ("fencepost-simulator", "operations", "an_operation_happens_as_its_policy_says"),
    "table": ("fencepost-simulator", "claims", ""),
    "names": ("fencepost-core", "", "claim::name"),
    "sweeps": ("fencepost-models", "sweeps", ""),
    "script": ("fencepost-simulator", "stories", ""),
    "transcript": ("fencepost-tests", "transcripts", ""),
}

PROMISES: dict[str, str] = json.loads(
    (ROOT / "tests" / "transcripts" / "promises.json").read_text(encoding="utf-8")
)


class DoesNotApply(Exception):
    """The file does not contain the text of a deletion, or contains it more than once."""


@dataclass(frozen=True)
class Deletion:
    """One safety check, and its deletion."""

    name: str
    #: The description of the check.
    check: str
    #: The promise that breaks without the check: a name in promises.json.
    promise: str
    #: The detector of its deletion: a name in DETECTORS.
    detected_by: str
    #: The file's path from the project's root.
    file: str
    find: str
    replace: str
    #: The machine whose seeds detect it, if seeds do.
    machine: str = ""
    #: Why no run of the simulator can detect it, if none can.
    because: str = ""
    #: A second text and its replacement, if the check is in two places.
    then_find: str = ""
    then_replace: str = ""
    #: The known wrong design that remains without the check, if there is one.
    design: str = ""

    def applied(self, source: str) -> str:
        """The source without the check. Raises DoesNotApply."""
        source = self._replaced(source, self.find, self.replace)
        return self._replaced(source, self.then_find, self.then_replace) if self.then_find else source

    def _replaced(self, source: str, find: str, replace: str) -> str:
        pattern = r"\s*".join(re.escape(word) for word in find.split())
        found = list(re.finditer(pattern, source))
        if len(found) != 1:
            raise DoesNotApply(f"{self.name}: found {len(found)} times in {self.file}: {find.strip()}")
        return source[: found[0].start()] + replace.strip("\n") + source[found[0].end() :]


def load() -> list[Deletion]:
    """All deletions, in the order of the list's files."""
    files = sorted(HERE.glob("*.toml"))
    tables = [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]
    return [Deletion(**entry) for table in tables for entry in table["deletion"]]


def _without(deletion: Deletion) -> str:
    return f" (without it: *{deletion.design}*)" if deletion.design else ""


def table() -> str:
    """The list in the form of the simulator's README."""
    rows = [
        f"| `{each.name}` | {each.check}{_without(each)} | {each.promise} | {each.detected_by} |"
        for each in load()
    ]
    return "\n".join(["| deletion | the check | promise | detected by |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    print(table(), end="")
