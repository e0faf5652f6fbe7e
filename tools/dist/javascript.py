"""The package for npm."""

from __future__ import annotations

import json
import os

import notices
import parts
import sbom
from project import DIST, ROOT, builds_alike, run

PACKAGE = ROOT / "bindings-wasm"
TARGET = "wasm32-unknown-unknown"
#: The crates of its modules, and the options of cargo for each.
MODULES = {"fencepost-wasm": ("--features=redis",), "fencepost-wasm-memory": ()}


def uses() -> dict[parts.Part, set[parts.Part]]:
    """The crates of which the modules consist."""
    found: dict[parts.Part, set[parts.Part]] = {}
    for crate, options in MODULES.items():
        for part, used in parts.of(crate, TARGET, *options).items():
            found.setdefault(part, set()).update(used)
    return found


def licences() -> str:
    """The licences of all modules."""
    texts = {notices.of(crate, TARGET, *options) for crate, options in MODULES.items()}
    assert len(texts) == 1, "the modules are made of different crates: write a text for each"
    return texts.pop()


def make() -> None:
    """Builds its content, and packs it."""
    # `scripts/modules.mjs` passes flags to the compiler, which the flags of a variable would replace.
    variables = {name: value for name, value in builds_alike().items() if name != "RUSTFLAGS"}
    assert "RUSTFLAGS" not in os.environ, "unset RUSTFLAGS"
    run("npm", "run", "--silent", "build", cwd=PACKAGE, env=variables)
    (PACKAGE / "dist" / notices.NAME).write_text(licences())
    packed = json.loads(run("npm", "pack", "--json", "--pack-destination", str(DIST), cwd=PACKAGE))
    sbom.write(DIST / packed[0]["filename"], uses())
