"""The reference has exactly the errors and options of the sources."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from datetime import timedelta

import fencepost
import fencepost.asyncio
import pytest
from fencepost.hub import Settings
from running import ROOT, source

ERRORS = source("docs/reference/errors.md")
OPTIONS = source("docs/reference/options.md")


@pytest.fixture
def client() -> Iterator[fencepost.Client]:
    with fencepost.connect("memory:") as client:
        yield client


def documented() -> dict[int, str]:
    """The errors of the page, with their names."""
    rows = re.findall(r"^\| (\d+) \| `([a-z-]+)` \|", ERRORS, re.MULTILINE)
    found = {int(code): name for code, name in rows}
    assert len(found) == len(rows), "a number appears twice"
    return found


def matched(text: str) -> dict[int, str]:
    """The errors of Rust enums with the methods ``code`` and ``name``."""
    pattern = r"Self::(\w+)(?: \{ \.\. \}|\(_\))? => %s,"
    names = dict(re.findall(pattern % r'"([a-z-]+)"', text))
    return {int(code): names[variant] for variant, code in re.findall(pattern % r"(\d+)", text)}


def of_the_core() -> dict[int, str]:
    reasons = re.findall(r'= (\d+), "([a-z-]+)", "', source("core/src/event.rs"))
    return matched(source("core/src/error.rs")) | {int(code): name for code, name in reasons}


def of_rust() -> dict[int, str]:
    text = source("bindings-rs/src/error.rs")
    # An error type with only one number returns it without a match.
    alone = re.findall(r"fn code\(&self\) -> u16 \{\s+(\d+)\s+\}.*?fn name.*?\"([a-z-]+)\"", text, re.DOTALL)
    return matched(text) | {int(code): name for code, name in alone}


def of_c() -> dict[int, str]:
    numbers = re.findall(r"^    (\w+) = (\d+),", source("bindings-c/src/result.rs"), re.MULTILINE)
    names = dict(
        re.findall(r'^    (\w+), c"([a-z-]+)",', source("bindings-c/src/result_names.rs"), re.MULTILINE)
    )
    return {int(code): names[variant] for variant, code in numbers if code != "0"}


def literals(folder: str, suffix: str, pattern: str) -> dict[int, str]:
    """The errors in a binding's sources, where a number and a name are next to each other."""
    texts = [path.read_text() for path in sorted((ROOT / folder).rglob(f"*{suffix}"))]
    return {int(code): name for text in texts for code, name in re.findall(pattern, text)}


def of_python() -> dict[int, str]:
    pattern = r'\b([1-5]\d\d)(?:, name: str = |,\s+)"([a-z]+(?:-[a-z]+)*)"'
    return literals("bindings-py/python/fencepost", ".py", pattern)


def of_javascript() -> dict[int, str]:
    return literals("bindings-wasm/js", ".ts", r'\b([1-5]\d\d),\s+"([a-z]+(?:-[a-z]+)*)"')


SOURCES = {
    "core": (of_the_core, {101, 210, 301, 316, 401, 407}),
    "rust": (of_rust, {501, 506, 507}),
    "c": (of_c, {101, 407, 501, 521, 528}),
    "python": (of_python, {501, 506, 541, 543}),
    "javascript": (of_javascript, {501, 503, 506}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_error_of_the_sources_is_on_the_page(name: str) -> None:
    errors, some = SOURCES[name]
    assert some <= set(errors()), "the sources are written in another way now"
    page = documented()
    assert {code: page.get(code) for code in errors()} == errors()


def test_every_error_on_the_page_is_in_the_sources() -> None:
    known = {code for errors, _ in SOURCES.values() for code in errors()}
    assert set(documented()) == known


def test_the_page_says_which_languages_have_an_error_of_the_client() -> None:
    rows = re.findall(r"^\| (5\d\d) \| `[a-z-]+` \| ([^|]+) \|", ERRORS, re.MULTILINE)
    assert len(rows) > 10
    every = ["c", "javascript", "python", "rust"]
    listed = {
        int(code): every if where == "all" else sorted(where.lower().split(", ")) for code, where in rows
    }
    assert listed == {code: [name for name in every if code in SOURCES[name][0]()] for code in listed}


def test_every_row_has_a_meaning_and_a_remedy() -> None:
    rows = [line for line in ERRORS.splitlines() if re.match(r"\| \d{3} ", line)]
    assert [row for row in rows if not all(cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])] == []


def section(title: str) -> str:
    """The part of the page below a heading."""
    return OPTIONS.split(f"## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


#: By option: unit, range, default, meaning.
OF_A_LOCK = {row[0].strip("`"): row[1:] for row in rows("Of a lock")}
#: The core's kinds, by the page's name of the kind.
KINDS = {
    "mutex": ["lock"],
    "unfair lock (`fair` = no)": ["lock"],
    "reader, writer": ["reader", "writer"],
    "semaphore": ["semaphore"],
    "election": ["election"],
    "multi-lock": ["multi-lock"],
}
#: A value of each unit.
SOME: dict[str, object] = {
    "duration": 1_000_000,
    "yes or no": False,
    "number": 3,
    "text": "x",
    "list of texts": ["stock/42"],
}


def settings(server: str, kind: str, options: dict[str, object]) -> str:
    """The core's settings for these options. Raises ConfigError."""
    named: dict[str, object] = {} if kind == "multi-lock" or "names" in options else {"name": "stock/42"}
    return repr(Settings(json.dumps({"server": server, "kind": kind, **named, **options})))


@pytest.mark.parametrize("row", rows("By kind"), ids=lambda row: row[0])
def test_a_kind_has_the_options_on_the_page(row: list[str]) -> None:
    shown, *cells = row
    listed = dict(zip(("zookeeper", "redis"), (re.findall(r"`(\w+)`", cell) for cell in cells), strict=True))
    listed["memory"] = listed["zookeeper"] + (listed["redis"] if shown == "mutex" else [])
    for kind in KINDS[shown]:
        for server, names in listed.items():
            for name, (unit, *_) in OF_A_LOCK.items():
                options: dict[str, object] = {name: SOME[unit]}
                if "fair" in shown:
                    options["fair"] = False
                elif name == "fair":
                    options["fair"] = True
                try:
                    settings(server, kind, options)
                    error = None
                except fencepost.ConfigError as refused:
                    error = refused.name
                assert (error == "unknown-option") == (name not in names), (server, kind, name, error)


def test_every_kind_is_on_the_page() -> None:
    assert [row[0] for row in rows("By kind")] == list(KINDS)


def value_of(shown: str) -> object:
    """A default of the page as a value."""
    if duration := re.fullmatch(r"(\d+) (m?s)", shown):
        return int(duration[1]) * {"s": 1_000_000, "ms": 1000}[duration[2]]
    return {"yes": True, "no": False}[shown] if shown in ("yes", "no") else shown.strip("`")


DEFAULTS = [name for name, row in OF_A_LOCK.items() if row[2] not in ("none", "required")]
#: Values that differ from the default, for options for which the unit's value is not valid.
OTHER = {"layout": "kazoo", "revocable": True}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_is_that_of_the_core(name: str) -> None:
    unit, _, shown, _ = OF_A_LOCK[name]
    mutex = rows("By kind")[0]
    servers = [server for server, cell in zip(("zookeeper", "redis"), mutex[1:], strict=True) if name in cell]
    assert servers
    given: dict[str, object] = {"layout": "plain"} if name == "node_prefix" else {}
    for server in servers:
        usual = settings(server, "lock", given)
        assert settings(server, "lock", {**given, name: value_of(shown)}) == usual
        assert settings(server, "lock", {**given, name: OTHER.get(name, SOME[unit])}) != usual


@pytest.mark.parametrize("name", ["max_hold", "identifier", "owner"])
def test_an_option_without_a_default(name: str) -> None:
    unit, _, shown, _ = OF_A_LOCK[name]
    assert shown == "none"
    assert settings("zookeeper", "lock", {name: SOME[unit]}) != settings("zookeeper", "lock", {})


@pytest.mark.parametrize(("kind", "name"), [("semaphore", "permits"), ("multi_lock", "names")])
def test_what_is_required_has_no_default(kind: str, name: str) -> None:
    assert OF_A_LOCK[name][2] == "required"
    parameters = inspect.signature(getattr(fencepost.Client, kind)).parameters
    assert parameters[name].default is inspect.Parameter.empty


def test_every_default_is_tested() -> None:
    listed = {name: row[2] for name, row in OF_A_LOCK.items() if name not in DEFAULTS}
    assert listed == {
        "max_hold": "none",
        "identifier": "none",
        "owner": "none",
        "permits": "required",
        "names": "required",
    }
    assert len(DEFAULTS) > 5


def test_the_default_of_connect_timeout() -> None:
    (row,) = [row for row in rows("Of a client") if row[0] == "`connect_timeout`"]
    assert row[3] == "5 s"
    for connect in (fencepost.connect, fencepost.asyncio.connect):
        assert inspect.signature(connect).parameters["connect_timeout"].default == 5
    assert "CONNECT_TIMEOUT: Duration = Duration::from_secs(5)" in source("bindings-rs/src/client/connect.rs")


YEAR = timedelta(days=365)
MORE = YEAR + timedelta(microseconds=1)
#: By option: the range on the page, values within it, and values outside of it with their errors.
RANGES: dict[str, tuple[str, list[object], list[tuple[object, str]]]] = {
    "ttl": (
        "at least 5 ms and three times `margin`, at most 365 days",
        [0.006, YEAR],
        [(0.0059, "lease-too-short"), (MORE, "too-long"), (0, "not-positive")],
    ),
    "margin": (
        "more than 0, to a third of the lease",
        [0.001, 3.3],
        [(3.4, "lease-too-short"), (0, "not-positive")],
    ),
    "poll": ("more than 0, to 365 days", [0.001, YEAR], [(0, "not-positive"), (MORE, "too-long")]),
    "max_hold": ("more than 0, to 365 days", [0.001, YEAR], [(0, "not-positive"), (MORE, "too-long")]),
    "answer_within": ("more than 0, to 365 days", [0.001, YEAR], [(0, "not-positive"), (MORE, "too-long")]),
    "layout": (
        "`curator`, `kazoo`, `plain`; `plain` for mutex, election and multi-lock only",
        ["curator", "kazoo", "plain"],
        [("other", "invalid-option")],
    ),
    "identifier": ("at most 1024 bytes", ["", "x" * 1024], [("x" * 1025, "invalid-option")]),
    "owner": ("1 to 1024 bytes", ["x", "x" * 1024], [("", "invalid-option"), ("x" * 1025, "invalid-option")]),
}


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_that_of_the_core(client: fencepost.Client, name: str) -> None:
    shown, within, outside = RANGES[name]
    assert OF_A_LOCK[name][1] == shown
    for value in within:
        client.lock("stock/42", **{name: value})  # type: ignore[arg-type]
    for value, error in outside:
        with pytest.raises(fencepost.ConfigError) as refused:
            client.lock("stock/42", **{name: value})  # type: ignore[arg-type]
        assert refused.value.name == error


def test_the_shortest_lease_is_5_ms(client: fencepost.Client) -> None:
    client.lock("stock/42", ttl=0.005, margin=0.001)
    with pytest.raises(fencepost.ConfigError, match="too short"):
        client.lock("stock/42", ttl=0.004, margin=0.001)


def test_permits_and_names_have_their_ranges(client: fencepost.Client) -> None:
    assert OF_A_LOCK["permits"][1] == "1 to 4294967295"
    assert OF_A_LOCK["names"][1] == "1 to 64, each lock once"
    client.semaphore("presses", 2**32 - 1)
    client.multi_lock([str(number) for number in range(64)])
    for permits in (0, 2**32):
        with pytest.raises(fencepost.ConfigError, match="permits"):
            client.semaphore("presses", permits)
    for names in ([], ["a", "a"], [str(number) for number in range(65)]):
        with pytest.raises(fencepost.ConfigError):
            client.multi_lock(names)


CONSTRUCTORS = ("lock", "read_write_lock", "semaphore", "election", "multi_lock")


@pytest.mark.parametrize("client", [fencepost.Client, fencepost.asyncio.Client])
def test_the_options_on_the_page_are_those_of_the_constructors(client: type) -> None:
    made = [inspect.signature(getattr(client, constructor)) for constructor in CONSTRUCTORS]
    names = {name for signature in made for name in signature.parameters}
    assert names - {"self", "name", "on_lost"} == set(OF_A_LOCK)


@pytest.mark.parametrize("client", [fencepost.Client, fencepost.asyncio.Client])
def test_the_options_of_a_lock_are_in_its_docstring(client: type) -> None:
    made = getattr(client, "lock")  # noqa: B009
    names = set(inspect.signature(made).parameters) - {"self", "name", "on_lost"}
    assert set(re.findall(r"^ *- ``(\w+)``", made.__doc__, re.MULTILINE)) == names
