"""Builds the documentation's site: `python site/build.py DESTINATION`.

The pages are Markdown that also reads well where the repository is hosted. This program copies them into
one folder, makes their links fit there, and runs mdBook on it. The list of pages is docs/README.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import api
from sequence import NotDrawn, draw

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent

#: Pages outside docs/, and their places in the site.
BESIDE = {
    "bindings-py/README.md": "languages/python.md",
    "bindings-wasm/README.md": "languages/javascript.md",
    "bindings-c/README.md": "languages/c.md",
    "bindings-rs/README.md": "languages/rust.md",
    "bench/README.md": "benchmark.md",
}
IMAGES = {".svg", ".png"}
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
PLAYGROUND = re.compile(r"^<!-- playground: .*?^<!-- end of the playground -->$", re.MULTILINE | re.DOTALL)
#: The page's program fills this element. It has no empty line, because Markdown would end the block there.
PLACE = """<div id="fencepost-playground"><p>The playground needs JavaScript and WebAssembly.</p></div>
<link rel="stylesheet" href="playground/code/main.css">
<script type="module" src="playground/code/main.js"></script>"""
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^# (.*)$", re.MULTILINE)


class BadPage(Exception):
    """A page that cannot be part of the site; the text is the reason."""


def places() -> dict[str, str]:
    """All pages of the site: the paths in the repository, with those in the site."""
    docs = ROOT / "docs"
    found = {str(page.relative_to(ROOT)): str(page.relative_to(docs)) for page in sorted(docs.rglob("*.md"))}
    found["docs/README.md"] = "index.md"
    return found | BESIDE


def repository() -> str:
    """The address of the sources, for links to files that are no pages."""
    address = re.search(r'^repository = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    if not address:
        raise BadPage("Cargo.toml names no repository")
    return address[1]


def replace_links(text: str, change: Callable[[str], str]) -> str:
    """Changes the target of each link outside of code blocks."""
    parts = FENCE.split(text)
    for number in range(0, len(parts), 2):
        parts[number] = LINK.sub(lambda found: f"]({change(found[1])})", parts[number])
    return "".join(parts)


def drawn(found: re.Match[str]) -> str:
    """A diagram in the place of its source. Readers can unfold the source to read it as text."""
    source = f"```text\n{found[1]}```"
    return f"{draw(found[1])}\n\n<details><summary>The same as text</summary>\n\n{source}\n\n</details>"


def stage(into: Path) -> None:
    """Writes all pages, the images that they show, and their list into a folder."""
    pages = places()
    sources = f"{repository()}/blob/main/"
    for page, place in pages.items():

        def change(link: str, page: str = page, place: str = place) -> str:
            # The README of a package is also read outside of the repository, so its links are complete
            # addresses.
            folder = "" if link.startswith(sources) else os.path.dirname(page)
            path, mark, anchor = link.removeprefix(sources).partition("#")
            if not path or re.match(r"[a-z]+:", path):
                return link
            target = os.path.normpath(os.path.join(folder, path))
            if os.path.isdir(ROOT / target) and f"{target}/README.md" in pages:
                target += "/README.md"
            if not (ROOT / target).exists():
                raise BadPage(f"{page}: {link} leads nowhere")
            if Path(target).suffix in IMAGES:
                (into / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / target, into / target)
                inside = target
            elif target in pages:
                inside = pages[target]
            elif target in api.REFERENCES and page == "docs/reference/api.md":
                inside = api.REFERENCES[target]
            else:
                return f"{sources}{target}{mark}{anchor}"
            return os.path.relpath(inside, os.path.dirname(place)) + mark + anchor

        written = into / place
        written.parent.mkdir(parents=True, exist_ok=True)
        try:
            text = DIAGRAM.sub(drawn, PLAYGROUND.sub(PLACE, (ROOT / page).read_text()))
        except NotDrawn as error:
            raise BadPage(f"{page}: {error}") from error
        written.write_text(replace_links(text, change))
    (into / "SUMMARY.md").write_text(summary(pages))


def summary(pages: dict[str, str]) -> str:
    """mdBook's list of pages, in the order and with the sections of docs/README.md."""
    lines = ["# Summary", "", "[Overview](index.md)", ""]
    listed = {"docs/README.md"}
    for line in (ROOT / "docs" / "README.md").read_text().splitlines():
        if section := re.fullmatch(r"\*\*(.*)\*\*", line):
            lines += ["", f"# {section[1]}", ""]
        for link in LINK.findall(line):
            page = os.path.normpath(os.path.join("docs", link))
            if page not in pages or page in listed:
                continue
            listed.add(page)
            title = HEADING.search((ROOT / page).read_text())
            if not title:
                raise BadPage(f"{page} has no heading")
            # Pages in a folder that has the name of a page are below that page.
            is_below = f"{os.path.dirname(pages[page])}.md" in pages.values()
            lines.append(f"{'  ' if is_below else ''}- [{title[1]}]({pages[page]})")
    if missing := sorted(pages.keys() - listed):
        raise BadPage(f"docs/README.md does not list {', '.join(missing)}")
    return "\n".join(lines) + "\n"


def run(*command: str | Path) -> None:
    """Runs a program. Raises an error if it fails or warns."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode != 0 or "WARN" in said or "ERROR" in said:
        raise BadPage(f"{Path(command[0]).name} ended with {done.returncode}:\n{said}")


def build(destination: Path) -> None:
    """Builds the site, and then replaces the folder."""
    mdbook = ROOT / ".venv" / "bin" / "mdbook"
    if not mdbook.exists():
        raise BadPage(f"{mdbook} is missing: run tools/setup python")
    if not shutil.which("mandoc"):
        raise BadPage("mandoc is missing: run tools/setup system")
    for name in ("modules", "entries"):
        needed = ROOT / "bindings-wasm" / "dist" / name
        if not needed.exists():
            raise BadPage(f"{needed} is missing: run make build-wasm")
    destination = destination.resolve()
    destination.parent.mkdir(parents=True, exist_ok=True)
    # Beside the destination, because a folder can only be renamed within one file system.
    with tempfile.TemporaryDirectory(prefix=f".{destination.name}-", dir=destination.parent) as folder:
        source, made, former = (Path(folder) / name for name in ("source", "made", "former"))
        source.mkdir()
        stage(source)
        for name in ("book.toml", "site.css", "tabs.js"):
            shutil.copy(HERE / name, source)
        run(mdbook, "build", "--dest-dir", made, source)
        run("node", HERE / "playground" / "build.mjs", made / "playground")
        api.build(made / "api", run)
        if destination.exists():
            destination.rename(former)
        made.rename(destination)


def main() -> int:
    """Builds the site, and returns the exit code."""
    if len(sys.argv) != 2:
        print("usage: python site/build.py DESTINATION", file=sys.stderr)
        return 2
    try:
        build(Path(sys.argv[1]))
    except (BadPage, api.Unreadable) as error:
        print(f"site/build.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
