"""The command of a release: the content of its archive, and that it works."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from install import run

FOLDER = Path(os.environ["FENCEPOST_INSTALLED"]) / "command"
COMMAND = FOLDER / "bin" / "fencepost"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/fencepost",
    "fish": "share/fish/vendor_completions.d/fencepost.fish",
    "zsh": "share/zsh/site-functions/_fencepost",
}


def test_it_is_small() -> None:
    assert COMMAND.stat().st_size <= 6 * 2**20


def test_the_demo_runs() -> None:
    assert "sold" in run(COMMAND, "demo")


def test_it_runs_where_there_is_an_old_glibc() -> None:
    needed = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", "--wide", COMMAND))
    assert needed
    assert max((int(major), int(minor)) for major, minor in needed) <= (2, 17)


@pytest.mark.parametrize("variable", ["FENCEPOST_REDIS", "FENCEPOST_ZOOKEEPER"])
def test_it_runs_a_command_under_a_lock(variable: str) -> None:
    url = f"{'redis' if variable.endswith('REDIS') else 'zk'}://{os.environ[variable]}"
    said = run(COMMAND, "exec", "--url", url, "dist", "--", "sh", "-c", "echo fence $FENCEPOST_FENCE")
    assert re.fullmatch(r"fence \d+\n", said)


def test_its_manual_can_be_read() -> None:
    pages = sorted((FOLDER / "share" / "man" / "man1").glob("*.1"))
    assert {"fencepost.1", "fencepost-exec.1", "fencepost-record.1"} <= {page.name for page in pages}
    for page in pages:
        assert "fencepost" in run("groff", "-man", "-Tutf8", "-Kutf8", page)


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_its_completions_are_those_that_it_prints(shell: str) -> None:
    assert (FOLDER / COMPLETIONS[shell]).read_text() == run(COMMAND, "completions", shell)


def test_bash_completes_with_them(tmp_path: Path) -> None:
    script = (
        f"source {FOLDER / COMPLETIONS['bash']}; COMP_WORDS=(fencepost cont); COMP_CWORD=1; "
        "_fencepost fencepost cont fencepost; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["contenders"]
