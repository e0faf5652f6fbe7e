"""The reference of each language's API, which the language's own tool makes from the comments in the sources.

In the repository, docs/reference/api.md links to the sources. In the site, the same links lead to the
references.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "api"))
from rustdoc import CRATES  # noqa: E402
from stubs import modules  # noqa: E402


class Unreadable(Exception):
    """A tool cannot read its sources; the text is the reason."""


Run = Callable[..., None]
"""Runs a program, and raises an error if it fails."""

#: The sources to which docs/reference/api.md links, and the reference of each.
REFERENCES = {
    "bindings-py/python/fencepost": "api/python/fencepost.html",
    "bindings-wasm/js": "api/javascript/index.html",
    "bindings-c/include": "api/c/index.html",
    "bindings-rs/src/lib.rs": "api/rust/fencepost/index.html",
    "core/src/lib.rs": "api/rust/fencepost_core/index.html",
}

HEADER = re.compile(r"#include &lt;([\w-]+\.h)&gt;")
FUNCTION = re.compile(r"<b>(fencepost_\w+)</b>")
SUMMARY = re.compile(r'<p class="Pp">(.*?)</p>', re.DOTALL)


def build(into: Path, run: Run) -> None:
    """Writes all references into a folder. Build the Python package and the JavaScript package first."""
    python(into / "python", run)
    javascript(into / "javascript", run)
    rust(into / "rust", run)
    c(into / "c", run)


def python(into: Path, run: Run) -> None:
    """By pdoc, which reads the installed package."""
    names = [module.path for module in modules()]
    run(sys.executable, ROOT / "site" / "python_reference.py", into, *names)


def javascript(into: Path, run: Run) -> None:
    """By TypeDoc: each subpath of the package that has types of its own."""
    package = ROOT / "bindings-wasm"
    subpaths = json.loads((package / "package.json").read_text())["exports"]
    # In this order: TypeDoc describes an item of several subpaths in the first one.
    entries = [
        package / "js" / types.removeprefix("./dist/cjs/").replace(".d.ts", ".ts")
        for types in map(_types, subpaths.values())
        if types
    ]
    options = {
        "--tsconfig": package / "tsconfig.json",
        "--out": into,
        "--name": "fencepost",
        "--readme": "none",
        "--includeHierarchySummary": "false",
        "--validation.notExported": "false",
        "--logLevel": "Warn",
    }
    flags = ["--excludeInternal", "--excludePrivate", "--disableSources", "--disableGit", "--hideGenerator"]
    words = [word for option in options.items() for word in option]
    typedoc = package / "node_modules" / ".bin" / "typedoc"
    run("node", typedoc, *words, *flags, "--treatWarningsAsErrors", *entries)


def _types(targets: str | dict[str, str | dict[str, str]]) -> str:
    """Where the types of a subpath are declared."""
    types = targets.get("types", "") if isinstance(targets, dict) else ""
    return str(types.get("require", "") if isinstance(types, dict) else types)


def rust(into: Path, run: Run) -> None:
    """By rustdoc: the published libraries."""
    # A separate folder, because other builds may write into the usual one meanwhile.
    target = ROOT / "target" / "site"
    # Each crate after the crates that it uses: rustdoc links to the pages of a crate only if they exist.
    for package, features in CRATES.items():
        command = ["cargo", "doc", "--quiet", "--no-deps", "--package", package]
        run(*command, "--features", ",".join(features), "--target-dir", target)
    shutil.move(target / "doc", into)
    # Some pages of rustdoc link to a first page, which rustdoc does not make.
    crates = [f'<li><a href="{name}/index.html">{name}</a></li>' for name in map(_crate, CRATES)]
    (into / "index.html").write_text("\n".join(_page("The Rust crates", ["<ul>", *crates, "</ul>"])))


def _crate(package: str) -> str:
    return package.replace("-", "_")


def _page(title: str, body: Iterable[str]) -> Iterator[str]:
    """A plain page."""
    yield '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
    yield f"<title>fencepost: {title}</title></head>\n<body>\n<h1>{title}</h1>"
    yield from body
    yield "</body>\n</html>\n"


def c(into: Path, run: Run) -> None:
    """The man pages, by mandoc. A list of all of them is the first page."""
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    headers = sorted((ROOT / "bindings-c" / "include").glob("*.h"))
    into.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, ROOT / "bindings-c" / "man" / "pages", version and version[1], folder, *headers)
        manual = sorted((Path(folder) / "man3").glob("*.3"))
        names = {page.stem for page in manual}
        written = {page.stem: _linked(html_of(page), names) for page in manual}
    for name, text in written.items():
        (into / f"{name}.html").write_text(text)
    listed = _list_of(written, [header.stem for header in headers])
    (into / "index.html").write_text("\n".join(_page("The C libraries", listed)))


def html_of(page: Path) -> str:
    """A man page as HTML."""
    command = ["mandoc", "-T", "html", "-W", "error,stop", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unreadable(f"mandoc ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _linked(text: str, names: set[str]) -> str:
    """The page with links from the functions to their pages."""

    def link(found: re.Match[str]) -> str:
        return f'<a href="{found[1]}.html">{found[0]}</a>' if found[1] in names else found[0]

    return FUNCTION.sub(link, text)


def _list_of(written: dict[str, str], headers: list[str]) -> Iterator[str]:
    """Each header with its functions."""
    for header in headers:
        yield f'<h2><a href="{header}.html">{header}.h</a></h2>\n<p>{_summary(written[header])}</p>\n<ul>'
        for name, text in written.items():
            of = HEADER.search(text)
            if of and of[1] == f"{header}.h" and name not in headers:
                yield f'<li><a href="{name}.html">{html.escape(name)}</a>: {_summary(text)}</li>'
        yield "</ul>"


def _summary(text: str) -> str:
    """The text after the name in the first section of a page."""
    found = SUMMARY.search(text)
    return re.sub(r"\s+", " ", found[1]).partition(" - ")[2] if found else ""
