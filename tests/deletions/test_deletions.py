"""Keeps the list valid: every deletion applies to the current sources, and is described."""

from __future__ import annotations

import json

import pytest
from deletions import DETECTORS, PROMISES, ROOT, Deletion, DoesNotApply, load, table

EVERY = load()
SCENARIOS = ROOT / "tests" / "simulator" / "scenarios"


@pytest.mark.parametrize("deletion", EVERY, ids=lambda deletion: deletion.name)
def test_a_deletion_applies_to_the_sources(deletion: Deletion) -> None:
    source = (ROOT / deletion.file).read_text(encoding="utf-8")
    assert deletion.applied(source) != source


@pytest.mark.parametrize("deletion", EVERY, ids=lambda deletion: deletion.name)
def test_a_deletion_names_its_promise_and_its_detector(deletion: Deletion) -> None:
    assert deletion.promise in PROMISES
    assert deletion.detected_by in DETECTORS
    assert (deletion.detected_by == "seeds") == bool(deletion.machine), "seeds detect it: of which machine?"
    assert (deletion.detected_by == "transcript") == bool(deletion.because), "why does no run detect it?"


def test_the_wrong_designs_of_operations_are_detected() -> None:
    """Each known wrong design of idempotent operations has a deletion that leads to it."""
    assert sorted(filter(None, (deletion.design for deletion in EVERY))) == [
        "a claim has failed, a read finds nothing, so it runs",
        "a corrupt record counts as absent",
        "an attempt without a lease counts as dead",
        "burn before running",
        "check, then consume",
        "in-progress before mismatch",
        "one slot a session",
        "the lease is the retention",
        "the owner is the host",
        "unconditional complete",
        "unconditional release",
    ]


def test_a_name_is_given_once() -> None:
    names = [deletion.name for deletion in EVERY]
    assert len(names) == len(set(names))


def test_scenarios_are_of_deletions_and_deletions_of_scenarios() -> None:
    scenarios = [json.loads(file.read_text(encoding="utf-8")) for file in SCENARIOS.glob("*.json")]
    written = {(scenario["detects"], scenario["guards"]) for scenario in scenarios}
    assert written == {
        (deletion.name, deletion.promise) for deletion in EVERY if deletion.detected_by == "scenario"
    }


def test_the_readme_shows_the_list() -> None:
    readme = (ROOT / "tests" / "simulator" / "README.md").read_text(encoding="utf-8")
    assert table() in readme, "python tests/deletions/deletions.py prints it"


def test_what_is_not_there_once_does_not_apply() -> None:
    deletion = Deletion("name", "check", "S1", "seeds", "file", "if a {  b }", "c")
    assert deletion.applied("x if a {\n    b\n} y") == "x c y"
    for source in ("x", "if a { b } if a { b }"):
        with pytest.raises(DoesNotApply, match="name: found"):
            deletion.applied(source)
