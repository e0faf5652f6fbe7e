"""The snippets of the guides run, each with the objects that the guide assumes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import INTERPRETER, build_c, on_real_servers, run, run_c, snippets

#: Runs a snippet. If it awaits at its top level, it runs as in asyncio's shell.
PYTHON = """
import ast, asyncio, inspect, json, os, pathlib, socket

class Sold:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()

class Database:
    def sell(self, item, fence):
        assert fence > 0
        return Sold()

scope = {"db": Database(), "json": json, "os": os, "socket": socket}
text = pathlib.Path("snippet.py").read_text()
code = compile(text, "snippet.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
result = eval(code, scope)
if inspect.iscoroutine(result):
    asyncio.run(result)
for each in scope.values():
    if not inspect.isclass(each) and getattr(each, "connected", False):
        each.stop()
print("done", scope.get("answer"))
"""

C = """
#include <stdio.h>
%(includes)s
static unsigned long long sold;
static void sell(int item, unsigned long long fence) { sold = fence + (unsigned)item; }
int main(void) {
%(before)s
%(body)s
(void)sell;
printf("done %%llu\\n", sold);
return 0;
}
"""

#: The start for C snippets that are only a part of a program: a client, and variables for results.
HELD = """
fencepost_client *client;
fencepost_lock *lock;
fencepost_grant *grant;
if (fencepost_connect("memory:", &client) != FENCEPOST_OK) { return 1; }
"""


def each(language: str, *guides: str) -> list[object]:
    """All snippets of some guides, with names."""
    found = [
        (guide, number, text) for guide in guides for number, text in enumerate(snippets(language, guide))
    ]
    return [pytest.param(text, id=f"{guide}-{number}") for guide, number, text in found]


@pytest.mark.parametrize("snippet", each("python", "bindings-py/README.md", "tests/servers/README.md"))
def test_python(snippet: str, tmp_path: Path) -> None:
    if "kill redis-1" in snippet:
        # Other tests need this server, so the snippet lists the servers instead.
        snippet = snippet.replace("kill redis-1", "list")
    (tmp_path / "snippet.py").write_text(on_real_servers(snippet))
    (tmp_path / "program.py").write_text(PYTHON)
    assert "done" in run(INTERPRETER, "-W", "error", "program.py", cwd=tmp_path)


@pytest.mark.parametrize("snippet", each("c", "bindings-c/README.md"))
def test_c(snippet: str, tmp_path: Path) -> None:
    if "int main" in snippet:
        assert "sold under fence" in run_c(snippet, tmp_path)
        return
    whole = "#include" in snippet
    includes = re.findall(r"^#include.*$", snippet, re.MULTILINE) or ["#include <fencepost-client.h>"]
    body = re.sub(r"^#include.*$", "", snippet, flags=re.MULTILINE)
    if not whole:
        # The snippet only shows the call; the test also checks its result.
        looked_at = r"if (\1 != FENCEPOST_OK) { puts(fencepost_detail()); return 1; }"
        body = re.sub(r"^(fencepost_\w+\(.*\));$", looked_at, body, flags=re.MULTILINE)
    program = C % {
        "includes": "\n".join(includes),
        "before": "" if whole else HELD,
        "body": on_real_servers(body),
    }
    build_c(program, tmp_path)
    sold = run("./snippet", cwd=tmp_path).split()
    assert sold[0] == "done"
    assert (int(sold[1]) > 0) == whole


def test_no_guide_has_gone_untested() -> None:
    """A renamed tag must not make a snippet go untested."""
    counts = {
        ("python", "bindings-py/README.md"): 4,
        ("python", "tests/servers/README.md"): 1,
        ("c", "bindings-c/README.md"): 3,
        ("cmake", "bindings-c/README.md"): 1,
        ("sh", "bindings-c/README.md"): 2,
    }
    assert {key: len(snippets(*key)) for key in counts} == counts
