"""The check of a history finds every violation."""

from __future__ import annotations

from pathlib import Path

import pytest
from history import History


@pytest.mark.parametrize(
    ("policy", "lines", "wrong"),
    [
        ("retake", ["effect k 7 0", "answer k a", "answer k a"], ""),
        # The first owner continues after a takeover.
        ("retake", ["effect k 9 1", "effect k 7 0", "answer k a"], ""),
        ("retake", ["effect k 7 0"], "results"),
        ("retake", ["effect k 7 0", "answer k a", "answer k b"], "results"),
        ("retake", ["effect k 7 0", "effect k 8 0", "answer k a"], "too often"),
        ("retake", ["effect k 7 0", "effect k 7 1", "answer k a"], "grow"),
        ("block", ["effect k 7 0", "effect k 8 1", "answer k a"], "taken over"),
        ("block", ["effect k 7 0", "effect k 8 0", "answer k a"], "too often"),
        ("retake", ["effect k 7 0", "answer k a", "answer l a"], "no caller has claimed"),
    ],
)
def test_wrong_histories_are_found(log: Path, policy: str, lines: list[str], wrong: str) -> None:
    log.write_text("".join(f"{line}\n" for line in lines))
    found = History().wrong(log, {"k": policy})
    assert bool(found) == bool(wrong)
    assert wrong in " ".join(found)
