"""The documentation's site: no dead link, nothing from another host; search and tabs work in a browser."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "site"))
import sequence  # noqa: E402

PATIENCE = 120  # seconds for the browser


class Page(HTMLParser):
    """The anchors of a page, the targets of its links and redirect, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.redirects_to = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if given.get("http-equiv") == "refresh":
            self.redirects_to = given["content"].partition("URL=")[2]
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and "href" in given:
            self.loads.append(given["href"])


def pages(site: Path) -> dict[Path, Page]:
    """All pages. The 404 page is shown at any depth, so its links are absolute."""
    found = {
        path.resolve(): Page(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"
    }
    assert len(found) > 25
    return found


#: Dead links that rustdoc writes: a relative link in a comment of another crate, and links to a hidden trait.
OF_RUSTDOC = {
    "dispatcher#setting-the-default-subscriber",
    "trait.Family.html#associatedtype.Shared",
    "trait.Family.html#associatedtype.Member",
    "../../trait.impl/fencepost_core/hub/family/trait.Member.js",
}


def test_every_link_leads_somewhere(site: Path) -> None:
    every = pages(site)
    dead = []
    for path, page in every.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or ("rust" in path.parts and link in OF_RUSTDOC):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            # rustdoc does not encode anchors in links, and has an anchor for each line of a source.
            fragment = re.sub(r"^(\d+)-\d+$", r"\1", parts.fragment)
            anchors = {fragment, unquote(fragment)} - {""}
            # rustdoc's redirects keep the anchor.
            while target in every and every[target].redirects_to:
                target = (target.parent / every[target].redirects_to).resolve()
            if not target.exists() or (anchors and not anchors & every[target].anchors):
                dead.append(f"{path.relative_to(site.resolve())}: {link}")
    assert dead == []


def test_the_page_that_shows_a_link_dead_would_be_found() -> None:
    page = Page('<a href="x.html#y">x</a><h2 id="z">z</h2><script src="https://example.org/a.js"></script>')
    assert (page.links, page.anchors, page.loads) == (["x.html#y"], {"z"}, ["https://example.org/a.js"])


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    foreign = [load for page in pages(site).values() for load in page.loads if urlsplit(load).netloc]
    for sheet in site.rglob("*.css"):
        foreign += re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^)'\"]+)", sheet.read_text())
    assert foreign == []


def test_diagrams_are_drawn(site: Path) -> None:
    page = (site / "explanation" / "sequences.html").read_text()
    sources = (ROOT / "docs" / "explanation" / "sequences.md").read_text()
    assert page.count('<svg class="sequence"') == sources.count("```mermaid") > 2
    assert "the write of A is Refused</text>" in page


def test_a_diagram_that_is_not_understood_is_an_error() -> None:
    with pytest.raises(sequence.NotDrawn, match="loop every minute"):
        sequence.draw("sequenceDiagram\nparticipant A\nloop every minute\nend\n")
    with pytest.raises(sequence.NotDrawn, match="no participant B"):
        sequence.draw("sequenceDiagram\nparticipant A\nA->>B: hello\n")


#: Opens pages of the site one after the other in a frame, and prints their content.
DRIVER = Path(__file__).with_name("driver.html")


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Serves the site on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    shutil.copy(DRIVER, site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    (site / "driver.html").unlink()


def test_search_and_tabs_work_in_a_browser(address: str, tmp_path: Path) -> None:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    done = subprocess.run(
        [
            "chromium",
            *flags,
            f"--user-data-dir={tmp_path}",
            "--virtual-time-budget=60000",
            "--dump-dom",
            f"{address}/driver.html",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said, done.stderr
    assert said[1].split("\n")[:-1] == [
        "first: Python Python",
        "clicked: Rust Rust",
        "kept: Rust",
        "linked: C",
        "kept: Rust",
        "found: true",
        "hosts: 0",
    ]
