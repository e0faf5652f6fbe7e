"""The snippets of a guide, and functions that run one in each language as a reader would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
#: Where tests/dist has installed a release; otherwise the snippets run with the builds of the checkout.
INSTALLED = Path(os.environ["FENCEPOST_INSTALLED"]) if "FENCEPOST_INSTALLED" in os.environ else None
INTERPRETER = str(INSTALLED / "python" / "bin" / "python") if INSTALLED else sys.executable
NODE = os.environ.get("FENCEPOST_NODE", "node")
COMMAND = (
    INSTALLED / "command" / "bin" / "fencepost" if INSTALLED else ROOT / "target" / "debug" / "fencepost"
)
C_LIBRARIES = INSTALLED / "c" / "lib" if INSTALLED else ROOT / "build" / "c" / "lib"
NODE_MODULES = ROOT / "bindings-wasm" / "node_modules"
NPM_PACKAGE = INSTALLED / "node" / "node_modules" / "fencepost" if INSTALLED else ROOT / "bindings-wasm"
LIMIT = 600  # seconds: the Rust snippets are compiled

#: The server addresses in the guides, by the variable with the test server's address.
USUAL = {"FENCEPOST_ZOOKEEPER": "localhost:2181", "FENCEPOST_REDIS": "localhost:6379"}

#: A file for the reader to save, a snippet, and its output.
BLOCK = re.compile(
    r"(?:Save this as `(?P<file>[\w.]+)`:\n\n)?"
    r"^```(?P<tag>\w+)\n(?P<text>.*?)^```$"
    r"(?:\n\nIt prints:\n\n```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


def source(path: str) -> str:
    """The text of a file of the project."""
    return (ROOT / path).read_text()


def blocks(guide: str) -> list[tuple[str, str]]:
    """A guide's snippets, each with its language."""
    text = source(guide)
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def snippets(language: str, guide: str = "README.md") -> list[str]:
    """A guide's snippets in one language."""
    return [text for tag, text in blocks(guide) if tag == language]


def on_real_servers(snippet: str) -> str:
    """Replaces the usual addresses with those of the test servers."""
    for variable, usual in USUAL.items():
        host, port = usual.split(":")
        parts = f'host="{host}", port={port}'
        if usual not in snippet and parts not in snippet:
            continue
        if variable not in os.environ:
            pytest.fail(
                f"{variable} is not set: run this by `python3 tests/servers run -- pytest tests/readme`"
            )
        host, port = os.environ[variable].split(":")
        snippet = snippet.replace(usual, f"{host}:{port}").replace(parts, f'host="{host}", port={port}')
    return snippet


def run(*command: str, cwd: Path) -> str:
    """Runs a command, and returns its output. A failure shows the output."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_python(snippet: str, cwd: Path) -> str:
    """Runs a program in Python. Empty files replace the files in /etc that it names."""
    for path in set(re.findall(r'"(/etc/[^"]+)"', snippet)):
        (cwd / Path(path).name).touch()
        snippet = snippet.replace(path, str(cwd / Path(path).name))
    (cwd / "snippet.py").write_text(on_real_servers(snippet))
    return run(INTERPRETER, "-W", "error", "snippet.py", cwd=cwd)


def run_javascript(snippet: str, cwd: Path) -> str:
    """Runs a module with the installed package, and with the client libraries that it imports."""
    modules = cwd / "node_modules"
    modules.mkdir()
    (modules / "fencepost").symlink_to(NPM_PACKAGE)
    for name in re.findall(r'from "([a-z-]+)"', snippet):
        if name != "fencepost":
            (modules / name).symlink_to(NODE_MODULES / name)
    (cwd / "snippet.mjs").write_text(on_real_servers(snippet))
    return run(NODE, "snippet.mjs", cwd=cwd)


def build_c(snippet: str, cwd: Path) -> None:
    """Builds ``snippet`` in the documented way."""
    (cwd / "snippet.c").write_text(snippet)
    given = "fencepost-zookeeper.h" in snippet
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fencepost-zookeeper" if given else "fencepost-client"],
        env=os.environ | {"PKG_CONFIG_PATH": str(C_LIBRARIES / "pkgconfig")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    if given:
        flags.append("-lzookeeper_mt")
    strict = ("-std=c99", "-Wall", "-Werror")
    run("cc", *strict, "snippet.c", *flags, f"-Wl,-rpath,{C_LIBRARIES}", "-o", "snippet", cwd=cwd)


def run_c(snippet: str, cwd: Path) -> str:
    """Builds and runs a program in C."""
    build_c(on_real_servers(snippet), cwd)
    return run("./snippet", cwd=cwd)


def locked(package: str) -> str:
    """The version of a package in the lock file."""
    found = re.search(rf'name = "{package}"\nversion = "(.*?)"', (ROOT / "Cargo.lock").read_text())
    assert found
    return found[1]


#: The crates that a program may use besides fencepost and tokio.
BESIDE = {
    "axum": 'default-features = false, features = ["http1", "tokio"]',
    "redis": 'default-features = false, features = ["connection-manager", "tokio-comp"]',
    "tower": 'default-features = false, features = ["util"]',
}


def rust_sources(features: str) -> str:
    """The end of a manifest: the path of fencepost in the checkout, or of the crates of a release."""
    if INSTALLED is None:
        return f'fencepost = {{ path = "{ROOT / "bindings-rs"}"{features} }}'
    crates = sorted((INSTALLED / "crates").iterdir())
    patches = "".join(f'[patch.crates-io.{crate.name}]\npath = "{crate}"\n' for crate in crates)
    return f'fencepost = {{ version = "{locked("fencepost")}"{features} }}\n{patches}'


def run_rust(snippet: str, cwd: Path) -> str:
    """Runs the program of a package that depends on fencepost, and on the client library that it uses."""
    (cwd / "src").mkdir()
    (cwd / "src" / "main.rs").write_text(on_real_servers(snippet))
    shutil.copy(ROOT / "Cargo.lock", cwd)
    others = "".join(
        f'{name} = {{ version = "={locked(name)}", {features} }}\n'
        for name, features in BESIDE.items()
        if f"{name}::" in snippet
    )
    of_client = ', features = ["tower"]' if "web::" in snippet else ""
    manifest = f"""[package]
name = "snippet"
edition = "2024"
[workspace]
[dependencies]
tokio = {{ version = "={locked("tokio")}", features = ["macros", "rt-multi-thread", "time"] }}
{others}{rust_sources(of_client)}
"""
    (cwd / "Cargo.toml").write_text(manifest)
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    return run("cargo", "run", "--quiet", "--target-dir", target, cwd=cwd)


RUN = {"python": run_python, "js": run_javascript, "c": run_c, "rust": run_rust}
