"""The tool that pauses a command now and then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STUTTER = Path(__file__).resolve().parents[2] / "tools" / "stutter"
#: Ends as soon as it notices that it was paused.
NOTICES = """
import sys, time
last = time.monotonic()
while time.monotonic() - last < 0.25:
    last = time.monotonic()
    time.sleep(0.01)
sys.exit(7)
"""


def stutter(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(STUTTER), "--for", "0.3", "--every", "0.1", "0.2", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_command_and_its_children_stand_still() -> None:
    inner = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {NOTICES!r}]))"
    ran = stutter("--", sys.executable, "-c", inner)
    assert ran.returncode == 7, ran.stderr
    assert "stood still" in ran.stderr


def test_others_go_on() -> None:
    goes_on = "import time; time.sleep(0.5); print('done')"
    ran = stutter("--only", "nobody-is-called-so", "--", sys.executable, "-c", goes_on)
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr


def test_times_that_make_no_sense_are_refused() -> None:
    ran = stutter("--for", "0", "--", "true")
    assert ran.returncode == 2
    assert "0 is no time" in ran.stderr
