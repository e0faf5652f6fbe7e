"""The crates of a release, in a user's project with the oldest libraries that the crates allow."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from install import ROOT, run

CRATES = Path(os.environ["FENCEPOST_INSTALLED"]) / "crates"
OLDEST = ROOT / "bindings-rs" / "tests" / "oldest"
MSRV = re.search(r'^rust-version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
SERVERS = {
    "memory": "memory:",
    "redis": f"redis://{os.environ['FENCEPOST_REDIS']}",
    "zookeeper": f"zk://{os.environ['FENCEPOST_ZOOKEEPER']}",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, with the lock file of the tests with the oldest libraries."""
    folder = tmp_path_factory.mktemp("oldest")
    version = re.search(r'name = "fencepost"\nversion = "(.+)"', (OLDEST / "Cargo.lock").read_text())
    assert version is not None
    manifest = (OLDEST / "Cargo.toml").read_text()
    manifest = manifest.replace('path = "../..", ', f'version = "{version[1]}", ')
    manifest = manifest.replace("[dev-dependencies]", "[dependencies]").replace(
        ".dev-dependencies]", ".dependencies]"
    )
    manifest = manifest.partition("[lib]")[0] + "[dependencies]" + manifest.partition("[dependencies]")[2]
    manifest = manifest.partition("[[test]]")[0].replace(
        '"macros", "net"', '"macros", "rt-multi-thread", "net"', 1
    )
    for crate in sorted(CRATES.iterdir()):
        manifest += f'[patch.crates-io.{crate.name}]\npath = "{crate}"\n'
    (folder / "Cargo.toml").write_text(manifest)
    shutil.copy(OLDEST / "Cargo.lock", folder)
    readme = (ROOT / "README.md").read_text()
    (program,) = re.findall(r"^```rust\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert '"memory:"' in program
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(program.replace('"memory:"', '&std::env::var("SHOP").unwrap()'))
    return folder


@pytest.mark.parametrize("server", SERVERS)
def test_a_program_with_the_oldest_libraries(server: str, project: Path) -> None:
    assert MSRV is not None
    target = ROOT / "build" / "dist-oldest"
    command = ("cargo", f"+{MSRV[1]}", "run", "--quiet", "--target-dir", target)
    said = run(*command, cwd=project, SHOP=SERVERS[server])
    assert "selling with fence " in said
    lock = (project / "Cargo.lock").read_text()
    assert 'name = "tokio"\nversion = "1.40.0"' in lock
