"""The command `fencepost`, with its manual pages, completions and licences."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import notices
import parts
import sbom
from packing import pack
from project import MACHINE, ROOT, WORK, builds_alike, run, tool, version

#: The command needs this glibc or a later one, because zig links with it.
GLIBC = "2.17"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/fencepost",
    "fish": "share/fish/vendor_completions.d/fencepost.fish",
    "zsh": "share/zsh/site-functions/_fencepost",
}


def build(target: str) -> Path:
    """Builds the program."""
    run("rustup", "--quiet", "target", "add", target)
    # cargo-zigbuild uses the zig from this environment's package.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    options = (
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "fencepost-cli",
        "--config",
        "profile.release.strip=true",
    )
    variables = builds_alike() | {"CFLAGS": "", "PATH": path}
    run(tool("cargo-zigbuild"), "zigbuild", *options, "--target", f"{target}.{GLIBC}", env=variables)
    return WORK / "target" / target / "release" / "fencepost"


def make() -> None:
    """Builds it for this machine's processor."""
    target = f"{MACHINE}-unknown-linux-gnu"
    program = build(target)
    tree = WORK / "command"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("bin/fencepost", *COMPLETIONS.values()):
        (tree / name).parent.mkdir(parents=True)
    shutil.copy(program, tree / "bin" / "fencepost")
    run(program, "man", str(tree / "share" / "man" / "man1"))
    for shell, name in COMPLETIONS.items():
        (tree / name).write_text(run(program, "completions", shell))
    for name in ("LICENSE", "README.md"):
        shutil.copyfile(ROOT / "cli" / name, tree / name)
    (tree / notices.NAME).write_text(notices.of("fencepost-cli", target))
    archive = pack(tree, f"fencepost-{version()}-{MACHINE}-linux")
    sbom.write(archive, parts.of("fencepost-cli", target))
