"""Every snippet of the README runs as it stands, on real servers; every command in it exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fencepost
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()
PATIENCE = 600  # seconds: the Rust snippet is compiled


def blocks(guide: str) -> list[tuple[str, str]]:
    """A guide's snippets, each with its language."""
    text = (ROOT / guide).read_text()
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def snippets(language: str, guide: str = "README.md") -> list[str]:
    """A guide's snippets in one language."""
    return [text for tag, text in blocks(guide) if tag == language]


def on_real_servers(snippet: str) -> str:
    """Puts the addresses of the test servers in the place of the usual ports."""
    for usual, variable in (("localhost:2181", "FENCEPOST_ZOOKEEPER"), ("localhost:6379", "FENCEPOST_REDIS")):
        if usual in snippet:
            if variable not in os.environ:
                pytest.fail(
                    f"{variable} is not set: run this by `python3 tests/servers run -- pytest tests/readme`"
                )
            snippet = snippet.replace(usual, os.environ[variable])
    return snippet


def run(*command: str, cwd: Path) -> str:
    """Runs a command; its output, or a failure that shows it."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("snippet", snippets("python"))
def test_python(snippet: str, tmp_path: Path) -> None:
    """Each Python snippet is a program."""
    (tmp_path / "snippet.py").write_text(on_real_servers(snippet))
    assert "selling with fence" in run(sys.executable, "snippet.py", cwd=tmp_path)


@pytest.mark.parametrize("snippet", snippets("js"))
def test_javascript(snippet: str, tmp_path: Path) -> None:
    """Each JavaScript snippet is a module beside the installed package."""
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "fencepost").symlink_to(ROOT / "bindings-wasm")
    (tmp_path / "snippet.mjs").write_text(on_real_servers(snippet))
    assert "selling with fence" in run("node", "snippet.mjs", cwd=tmp_path)


def build_c(cwd: Path) -> None:
    """Builds snippet.c as the documentation says."""
    library = ROOT / "build" / "c" / "lib"
    environment = os.environ | {"PKG_CONFIG_PATH": str(library / "pkgconfig")}
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fencepost-client"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    strict = ("-std=c99", "-Wall", "-Werror")
    run("cc", *strict, "snippet.c", *flags, f"-Wl,-rpath,{library}", "-o", "snippet", cwd=cwd)


@pytest.mark.parametrize("snippet", snippets("c"))
def test_c(snippet: str, tmp_path: Path) -> None:
    """Each C snippet is a program."""
    (tmp_path / "snippet.c").write_text(on_real_servers(snippet))
    build_c(tmp_path)
    assert "selling with fence" in run("./snippet", cwd=tmp_path)


@pytest.mark.parametrize("snippet", snippets("c"))
def test_c_that_sells_nothing_says_so(snippet: str, tmp_path: Path) -> None:
    """What was not locked is a failure, with a reason."""
    (tmp_path / "snippet.c").write_text(on_real_servers(snippet))
    build_c(tmp_path)
    with fencepost.connect(f"redis://{os.environ['FENCEPOST_REDIS']}") as other, other.lock("stock/42"):
        held = subprocess.run(["./snippet"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert held.returncode == 1
    assert "not sold: timeout" in held.stderr


@pytest.mark.parametrize("snippet", snippets("rust"))
def test_rust(snippet: str, tmp_path: Path) -> None:
    """Each Rust snippet is the program of a package that depends on fencepost."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text(on_real_servers(snippet))
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    tokio = re.search(r'name = "tokio"\nversion = "(.*?)"', (ROOT / "Cargo.lock").read_text())
    assert tokio
    (tmp_path / "Cargo.toml").write_text(
        f"""[package]
name = "snippet"
edition = "2024"
[dependencies]
fencepost = {{ path = "{ROOT / "bindings-rs"}" }}
tokio = {{ version = "={tokio.group(1)}", features = ["macros", "rt-multi-thread", "time"] }}
[workspace]
"""
    )
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    out = run("cargo", "run", "--quiet", "--target-dir", target, cwd=tmp_path)
    assert "selling with fence" in out


def test_there_is_a_snippet_for_every_language() -> None:
    """A renamed tag must not make a snippet go untested."""
    assert all(snippets(language) for language in ("python", "js", "c", "rust", "console"))
    assert {tag for tag, _ in blocks("README.md")} <= {"python", "js", "c", "rust", "console", "text"}


def test_every_command_is_a_target() -> None:
    """What the README tells to type exists."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = re.findall(r"\bmake ([a-z-]+)", README)
    assert asked
    assert set(asked) <= targets
