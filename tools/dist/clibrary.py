"""The C libraries, as `make install` installs them into a prefix. Users can unpack the tree anywhere."""

from __future__ import annotations

import os
import shutil

import notices
import parts
import sbom
from packing import pack
from project import MACHINE, ROOT, WORK, builds_alike, run, version

SOURCES = ROOT / "bindings-c"
TARGET = f"{MACHINE}-unknown-linux-gnu"


def make() -> None:
    """Builds and installs them, linked with the C library and the client libraries of this machine."""
    staged, prefix = WORK / "c-staged", "/usr/local"
    shutil.rmtree(staged, ignore_errors=True)
    build = f"BUILD={os.path.relpath(WORK / 'c', SOURCES)}"
    make_c = ("make", "--silent", "--no-print-directory", "-C", str(SOURCES), build)
    run(*make_c, env=builds_alike())
    run(*make_c, "install", f"DESTDIR={staged}", f"PREFIX={prefix}", env=builds_alike())
    tree = staged / prefix[1:]
    shared = tree / "share" / "doc" / "fencepost"
    (shared / notices.NAME).write_text(notices.of("fencepost-c", TARGET))
    shutil.copyfile(SOURCES / "README.md", shared / "README.md")
    archive = pack(tree, f"libfencepost-{version()}-{MACHINE}-linux-gnu")
    sbom.write(archive, parts.of("fencepost-c", TARGET))
