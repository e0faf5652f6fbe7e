"""The references of the languages describe each public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "site"))
import api  # noqa: E402
from stubs import modules, own  # noqa: E402

LISTS = ROOT / "tests" / "api"
RUST = re.compile(
    r"(?:#\[non_exhaustive\] )?(struct|enum|trait) (fencepost(?:_core)?(?:::[a-z_]\w*)*)::([A-Z]\w*)\b"
)
TYPESCRIPT = re.compile(r"(class|interface) (fencepost\S*) (\w+)")


def missing(folder: Path, pages: set[str]) -> list[str]:
    """The missing pages."""
    return sorted(page for page in pages if not (folder / page).is_file())


def test_each_public_name_of_python_has_a_place(site: Path) -> None:
    absent = []
    for module in modules():
        page = (site / "api" / "python" / f"{module.path.replace('.', '/')}.html").read_text()
        absent += [f"{module.path}.{name}" for name in own(module) if f'id="{name}"' not in page]
    assert absent == []
    page = (site / "api" / "python" / "fencepost.html").read_text()
    for name in ("Client.lock", "Client.idempotency", "Client.close", "Grant.fence", "Claim.complete"):
        assert f'id="{name}"' in page


def test_each_class_of_javascript_has_a_page(site: Path) -> None:
    found = set(TYPESCRIPT.findall((LISTS / "typescript.txt").read_text()))
    assert len(found) > 60
    pages = {
        f"{kind}{'es' if kind == 'class' else 's'}/{module.replace('/', '_')}.{name}.html"
        for kind, module, name in found
    }
    assert missing(site / "api" / "javascript", pages) == []


def test_each_type_of_rust_has_a_page(site: Path) -> None:
    found = set(RUST.findall((LISTS / "rust.txt").read_text()))
    assert len(found) > 100
    # A module may re-export items of another one.
    wanted = {(path.partition("::")[0], f"{kind}.{name}.html") for kind, path, name in found}
    rust = site / "api" / "rust"
    pages = {(page.relative_to(rust).parts[0], page.name) for page in rust.rglob("*.html")}
    assert sorted(wanted - pages) == []


def test_each_function_of_c_has_a_page(site: Path) -> None:
    functions = set(re.findall(r"\b(fencepost_\w+)\(", (LISTS / "c.txt").read_text()))
    assert len(functions) > 150
    assert missing(site / "api" / "c", {f"{name}.html" for name in functions}) == []
    page = (site / "api" / "c" / "fencepost_acquire.html").read_text()
    assert '<a href="fencepost_lock_acquire.html">' in page
    listed = (site / "api" / "c" / "index.html").read_text()
    assert '<li><a href="fencepost_acquire.html">fencepost_acquire</a>: Acquires the mutex' in listed


def test_the_pages_lead_to_the_references(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text()
    for place in api.REFERENCES.values():
        assert f'href="../{place}"' in page
        assert (site / place).is_file()


def test_a_man_page_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 4, "", "unsupported")

    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(api.Unreadable, match="mandoc ended with 4: unsupported"):
        api.html_of(tmp_path / "page.3")
