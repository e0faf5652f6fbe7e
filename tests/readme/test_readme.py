"""Every snippet of the README runs as it stands, on real servers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import fencepost
import pytest
from running import BLOCK, ROOT, RUN, blocks, build_c, on_real_servers, snippets


@pytest.mark.parametrize(
    ("language", "snippet", "output"),
    [
        (block["tag"], block["text"], block["output"])
        for block in BLOCK.finditer((ROOT / "README.md").read_text())
        if block["tag"] in RUN
    ],
)
def test_snippet(language: str, snippet: str, output: str | None, tmp_path: Path) -> None:
    """Each snippet is a program, and prints what the README says."""
    printed = RUN[language](snippet, tmp_path)
    assert "selling with fence" in printed if output is None else printed == output


@pytest.mark.parametrize("snippet", snippets("c"))
def test_c_that_sells_nothing_says_so(snippet: str, tmp_path: Path) -> None:
    """What was not locked is a failure, with a reason."""
    build_c(on_real_servers(snippet), tmp_path)
    with fencepost.connect(f"redis://{os.environ['FENCEPOST_REDIS']}") as other, other.lock("stock/42"):
        held = subprocess.run(["./snippet"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert held.returncode == 1
    assert "not sold: timeout" in held.stderr


@pytest.mark.parametrize("snippet", snippets("c"))
def test_c_without_a_server_says_so(snippet: str, tmp_path: Path) -> None:
    """A server that cannot be reached is a failure, with a reason."""
    build_c(snippet.replace("localhost:6379", "127.0.0.1:1"), tmp_path)
    ended = subprocess.run(["./snippet"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "not sold: unreachable" in ended.stderr


def test_there_is_a_snippet_for_every_language() -> None:
    """A renamed tag must not make a snippet go untested."""
    tags = {tag for tag, _ in blocks("README.md")}
    assert {*RUN, "console"} <= tags <= {*RUN, "console", "text"}
