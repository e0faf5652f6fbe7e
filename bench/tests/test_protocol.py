"""The replies that a worker may send, and the harness's reaction to others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import workers
from harness.complaint import Complaint
from harness.subjects import SUBJECTS
from harness.workers import Call, Hold, Worker


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Saying:
    """Makes workers whose output the test chooses."""
    return Saying(monkeypatch, tmp_path)


class Saying:
    """Makes workers whose output a test chooses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._program = folder / "worker.py"

    def __call__(self, *lines: str, then: str = "") -> Worker:
        """A worker that starts with the first line, and replies to each command with the next line."""
        loop = f"for line in {lines[1:]!r}:\n    input()\n    print(line, flush=True)\n"
        self._program.write_text(f"import sys\nprint({lines[0]!r}, flush=True)\n{loop}{then}\n")
        program = [sys.executable, str(self._program)]
        self._monkeypatch.setattr(workers, "command", lambda _subject: program)
        return Worker(SUBJECTS[0], "zk://nowhere:1", "lock")


def test_answers_are_read(said: Saying) -> None:
    with said("ready", "[5, 6]", "[10, 30]", "[[1, 2, 3]]") as worker:
        assert worker.cycle(2) == [5, 6]
        assert worker.call("acquire") == Call(10, 30)
        worker.send("contend 1 1")
        assert worker.contended(0.001) == [Hold(1, 2, 3)]


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("nonsense", "which is not JSON"),
        ("5", "which is not an array"),
        ("[1]", "1 times to 'cycle 2'"),
        ("[1, 2.5]", "not whole numbers"),
        ('[1, "2"]', "not whole numbers"),
    ],
)
def test_wrong_answers_are_errors(said: Saying, answer: str, complaint: str) -> None:
    with said("ready", answer) as worker, pytest.raises(Complaint, match=complaint):
        worker.cycle(2)


def test_a_wrong_greeting_is_an_error(said: Saying) -> None:
    with said("hello") as worker, pytest.raises(Complaint, match="'hello' instead of 'ready'"):
        worker.cycle(1)


def test_what_a_dying_worker_says_is_told(said: Saying) -> None:
    dying = "input()\nsys.exit('no route to the server')"
    with said("ready", then=dying) as worker, pytest.raises(Complaint) as caught:
        worker.cycle(1)
    assert "has ended" in str(caught.value)
    assert "no route to the server" in str(caught.value)


def test_a_silent_worker_is_not_waited_for_for_ever(said: Saying, monkeypatch: pytest.MonkeyPatch) -> None:
    with said("ready", then="input()\ninput()") as worker:
        worker.send("acquire")
        with pytest.raises(Complaint, match="has said nothing"):
            worker.receive(limit=0.05)
