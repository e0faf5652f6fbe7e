"""Every transcript, replayed on Python's public hub."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay import FILES, ROOT, Difference, replay


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_transcript(file: Path) -> None:
    replay(file.read_text(encoding="utf-8"))


def test_there_are_transcripts() -> None:
    assert len(FILES) > 40


def test_a_difference_is_found() -> None:
    text = FILES[0].read_text(encoding="utf-8")
    with pytest.raises(Difference, match="expected"):
        replay(text.replace('"target":"any"', '"target":"own"', 1))


def test_a_difference_names_the_promise() -> None:
    text = (ROOT / "zookeeper" / "confirming-probe-lost.jsonl").read_text(encoding="utf-8")
    with pytest.raises(
        Difference, match=r"S3 may be broken: a client that believes .*\nthe case: The answer to a confirming"
    ):
        replay(text.replace('"target":"any"', '"target":"own"', 1))


def test_an_unknown_promise_is_an_error() -> None:
    text = (ROOT / "zookeeper" / "confirming-probe-lost.jsonl").read_text(encoding="utf-8")
    with pytest.raises(KeyError, match="S0"):
        replay(text.replace('"S3"', '"S0"', 1))
