"""The README of a package works without the repository: in a registry, or in an archive."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "dist"))
from project import CRATES  # noqa: E402

FOLDERS = (*CRATES.values(), "bindings-py", "bindings-wasm", "bindings-c")
CODE = re.compile(r"^```.*?^```$|`[^`]*`", re.MULTILINE | re.DOTALL)
#: Links of Markdown, inline or with a reference; and links of HTML.
LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*<?([^\s>]+)|(?:href|src)=[\"']([^\"']+)", re.MULTILINE
)


def links(text: str) -> list[str]:
    """The targets of a page's links."""
    return ["".join(found) for found in LINK.findall(CODE.sub("", text))]


def leads_on(link: str) -> bool:
    """Whether a link works in every place where the page is shown."""
    return link.startswith(("https://", "#"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_link_is_a_whole_address(folder: str) -> None:
    assert [link for link in links((ROOT / folder / "README.md").read_text()) if not leads_on(link)] == []


def test_every_package_is_tested() -> None:
    says = re.compile(r"^readme = |^  \"exports\": ", re.MULTILINE)
    manifests = [
        path for name in ("Cargo.toml", "pyproject.toml", "package.json") for path in ROOT.glob(f"*/{name}")
    ]
    published = {path.parent.name for path in manifests if says.search(path.read_text())}
    # Only a release publishes the C libraries.
    assert published | {"bindings-c"} == set(FOLDERS)


def test_a_link_into_the_repository_would_be_found() -> None:
    text = (
        "[a](../x.md#y) [b](examples/x.mjs) ![c](<x.svg>) [d](#y) [e](https://example.org/x)\n"
        '[f]: docs/x.md\n<img src="y.svg">\n`[g](no-link)`\n```js\nz[h](i)\n```\n'
    )
    dead = [link for link in links(text) if not leads_on(link)]
    assert dead == ["../x.md#y", "examples/x.mjs", "x.svg", "docs/x.md", "y.svg"]
