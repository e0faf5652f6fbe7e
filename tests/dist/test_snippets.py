"""The README's programs with locks run with the installed artefacts, in every language, on every server."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from install import NODES, ROOT

sys.path.insert(0, str(ROOT / "tests" / "readme"))
import running

LANGUAGES = {
    language: [text for text in running.snippets(language) if '"memory:"' in text and ".lock(" in text]
    for language in ("python", "js", "rust")
} | {"c": [text for text in running.snippets("c") if '"memory:"' in text]}
SERVERS = {
    "memory": "memory:",
    "redis": f"redis://{os.environ['FENCEPOST_REDIS']}",
    "zookeeper": f"zk://{os.environ['FENCEPOST_ZOOKEEPER']}",
}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert running.INSTALLED is not None, "run this by `make test-dist`"
    assert not running.INSTALLED.is_relative_to(ROOT)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_locks(language: str, server: str, tmp_path: Path) -> None:
    assert LANGUAGES[language]
    for number, text in enumerate(LANGUAGES[language]):
        folder = tmp_path / str(number)
        folder.mkdir()
        printed = running.RUN[language](text.replace("memory:", SERVERS[server]), folder)
        assert "selling with fence " in printed


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("version", ["20.16", "22", "24"])
def test_every_node_locks(version: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = NODES / f"node-{version}" / "bin" / "node"
    assert running.run(str(program), "--version", cwd=tmp_path).startswith(f"v{version}.")
    monkeypatch.setattr(running, "NODE", str(program))
    (text,) = LANGUAGES["js"]
    assert "selling with fence " in running.run_javascript(text.replace("memory:", SERVERS[server]), tmp_path)
