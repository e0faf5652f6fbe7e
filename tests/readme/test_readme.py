"""Every snippet of the README runs unchanged; the one in C also prints errors."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import fencepost
import pytest
from running import BLOCK, ROOT, RUN, blocks, build_c, snippets


@pytest.mark.parametrize(
    ("language", "snippet", "output"),
    [
        (block["tag"], block["text"], block["output"])
        for block in BLOCK.finditer((ROOT / "README.md").read_text())
        if block["tag"] in RUN
    ],
)
def test_snippet(language: str, snippet: str, output: str | None, tmp_path: Path) -> None:
    """Each snippet is a program, and prints the output in the README."""
    printed = RUN[language](snippet, tmp_path)
    assert "selling with fence" in printed if output is None else printed == output


#: The programs with a lock, in the README and in the guide to C.
LOCKING = [snippets("c")[0], snippets("c", "bindings-c/README.md")[0]]


@pytest.mark.parametrize("snippet", LOCKING)
def test_c_that_sells_nothing_says_so(snippet: str, tmp_path: Path) -> None:
    """If the program does not get the lock, it fails and prints the reason."""
    build_c(snippet.replace("memory:", f"redis://{os.environ['FENCEPOST_REDIS']}"), tmp_path)
    with fencepost.connect(f"redis://{os.environ['FENCEPOST_REDIS']}") as other, other.lock("stock/42"):
        held = subprocess.run(["./snippet"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert held.returncode == 1
    assert "not sold: timeout" in held.stderr


@pytest.mark.parametrize("snippet", LOCKING)
def test_c_without_a_server_says_so(snippet: str, tmp_path: Path) -> None:
    """If the program cannot reach the server, it fails and prints the reason."""
    build_c(snippet.replace("memory:", "redis://127.0.0.1:1"), tmp_path)
    ended = subprocess.run(["./snippet"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "not sold: unreachable" in ended.stderr


def test_there_is_a_snippet_for_every_language() -> None:
    """A renamed tag must not make a snippet go untested."""
    tags = [tag for tag, _ in blocks("README.md")]
    assert {tag: tags.count(tag) for tag in RUN} == {"python": 3, "js": 1, "c": 1, "rust": 1}
    assert set(tags) == {*RUN, "console", "text"}


def test_no_snippet_needs_a_server() -> None:
    assert not re.findall(r"localhost:\d+", "".join(text for tag, text in blocks("README.md") if tag in RUN))
