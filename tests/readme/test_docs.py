"""Every snippet of docs/ runs unchanged, and prints the output on the page; every command and link works."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fencepost
import pytest
from running import BLOCK, COMMAND, ROOT, RUN, on_real_servers, run

PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))
GUIDES = ["README.md", "CONTRIBUTING.md", *PAGES]
#: The start of links to pages in a package's README, which is also read outside of the repository.
REPOSITORY = "https://github.com/fencepost/fencepost/blob/main/"


#: The output of all programs before it, in the tabs of the languages.
SHARED = re.compile(r"^## What [^\n]* prints?\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs() -> Iterator[object]:
    """All programs, each with the files that its page tells the reader to save before."""
    for page in PAGES:
        text = (ROOT / page).read_text()
        shared = [(found.start(), found[1]) for found in SHARED.finditer(text)]
        files: dict[str, str] = {}
        for number, block in enumerate(BLOCK.finditer(text)):
            if block["file"]:
                files[block["file"]] = block["text"]
            elif block["tag"] in RUN:
                later = (output for start, output in shared if start > block.start())
                output = block["output"] or next(later, None)
                given = (block["tag"], block["text"], dict(files), output)
                yield pytest.param(*given, id=f"{page}-{number}-{block['tag']}")


#: How many blocks of these tags the pages have.
COUNTS = {"c": 7, "console": 15, "js": 12, "python": 30, "rust": 9}


def test_no_block_has_gone_untested() -> None:
    """A renamed tag must not make a program or a command go untested."""
    tags = [block["tag"] for page in PAGES for block in BLOCK.finditer((ROOT / page).read_text())]
    assert {tag: tags.count(tag) for tag in COUNTS} == COUNTS
    assert set(tags) - set(COUNTS) <= {"cron", "ini", "mermaid", "sql", "text", "yaml"}


@pytest.mark.parametrize(("language", "text", "files", "output"), list(programs()))
def test_program(language: str, text: str, files: dict[str, str], output: str | None, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    printed = RUN[language](text, tmp_path)
    assert output is None or printed == output


def commands() -> list[tuple[str, str]]:
    """All commands for a reader to type."""
    return [
        (page, line.removeprefix("$ ").partition("#")[0].strip())
        for page in GUIDES
        for block in BLOCK.finditer((ROOT / page).read_text())
        if block["tag"] == "console"
        for line in block["text"].splitlines()
    ]


@pytest.mark.parametrize(("page", "command"), commands())
def test_command(page: str, command: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(on_real_servers(command))
    if "FENCE" in arguments or "status" in arguments:
        address, name = arguments[2:4]
        with fencepost.connect(address) as client:
            grant = client.lock(name).acquire()
            assert grant
            (holder,) = client.lock(name).contenders()
            arguments = [str(grant.fence) if word == "FENCE" else word for word in arguments]
            assert (name if "status" in arguments else holder.node) in run(
                str(COMMAND), *arguments, cwd=tmp_path
            )
    elif "record" in arguments and "sweep" not in arguments:
        printed = run_on_record(arguments, tmp_path)
        assert "look" not in arguments or names(printed) == names(
            EXAMPLE.findall((ROOT / page).read_text())[0]
        )
    elif program == "fencepost":
        run(str(COMMAND), *arguments, cwd=tmp_path)
    elif program == "redis-cli":
        run(program, *arguments, cwd=tmp_path)
    elif program == "tools/setup":
        assert f"\n{arguments[0]}() {{" in (ROOT / program).read_text()
    else:
        # The snippets use the results of these commands; test_every_target_exists checks make's arguments.
        assert program in {"make", "git", "cargo"}


#: A printed record.
EXAMPLE = re.compile(r"It prints, for example:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_on_record(arguments: list[str], cwd: Path) -> str:
    """Runs ``fencepost --url URL record STEP SCOPE KEY …`` on an unfinished operation."""
    _, address, _, _, scope, key, *_ = arguments
    with fencepost.connect(address) as client:
        operations = client.idempotency(scope, on_lease_end="indeterminate")
        operations.claim(key).leave()
        left = operations.look(key)
        assert left
        given = [str(left.fence) if word == "GUARD" else word for word in arguments]
        printed = run(str(COMMAND), *given, cwd=cwd)
        if after := operations.look(key):
            operations.forget(key, after)
    return printed


def names(record: str) -> list[str]:
    """The names of the rows of a printed record."""
    return [line.split()[0] for line in record.splitlines()]


def test_every_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {
        target
        for guide in GUIDES
        for target in re.findall(r"(?:`|^\$? ?)make ([a-z-]+)", (ROOT / guide).read_text(), re.MULTILINE)
    }
    assert {"demo", "test", "bench", "deletions"} <= asked <= targets


def test_every_file_that_is_named_exists() -> None:
    path = re.compile(r"`((?:core|models|bench|tests|tools|bindings-\w+)/[\w./-]+)`")
    named = {name for guide in GUIDES for name in path.findall((ROOT / guide).read_text())}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def guides_of_the_project() -> list[str]:
    """All existing Markdown files: git still lists a file that was just moved."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [guide for guide in listed if (ROOT / guide).exists()]


def test_every_link_leads_somewhere() -> None:
    dead = []
    for guide in guides_of_the_project():
        for link in re.findall(r"\]\(([^)\s]+)\)", (ROOT / guide).read_text()):
            folder = ROOT if link.startswith(REPOSITORY) else (ROOT / guide).parent
            target, _, anchor = link.removeprefix(REPOSITORY).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            page = folder / target if target else ROOT / guide
            if not page.exists() or (anchor and anchor not in anchors(page)):
                dead.append(f"{guide}: {link}")
    assert dead == []


def bullets(text: str) -> Iterator[str]:
    """The bullets of a page, each in one line."""
    bullet: list[str] = []
    for line in re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        begins = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if bullet and (begins or not line.startswith(" ")):
            yield " ".join(bullet)
            bullet = []
        if begins or bullet:
            bullet.append(line.strip())
    if bullet:
        yield " ".join(bullet)


def test_no_bullet_is_longer_than_60_words() -> None:
    # The simulator writes this report.
    pages = [page for page in guides_of_the_project() if not page.endswith("REPORT.md")]
    every = [(page, bullet) for page in pages for bullet in bullets((ROOT / page).read_text())]
    assert len(every) > 500
    assert [found for found in every if len(found[1].split()) > 60] == []


def test_every_page_is_listed() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    assert [page for page in PAGES if page != "docs/README.md" and page[5:] not in index] == []
