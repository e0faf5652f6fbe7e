"""The table of promises in the page of the proof is the one that transcripts and the simulator use."""

from __future__ import annotations

import json
import re

from running import ROOT

ROW = re.compile(r"^\| ([SLD]\d?) \| (.*) \|$", re.MULTILINE)


def test_the_page_has_the_promises() -> None:
    page = (ROOT / "docs" / "explanation" / "proof.md").read_text()
    promises = json.loads((ROOT / "tests" / "transcripts" / "promises.json").read_text())
    assert dict(ROW.findall(page)) == promises
