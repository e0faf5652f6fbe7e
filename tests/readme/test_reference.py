"""The reference has every error and every option of the sources, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import fencepost
import pytest
from running import ROOT

ERRORS = (ROOT / "docs" / "reference" / "errors.md").read_text()
OPTIONS = (ROOT / "docs" / "reference" / "options.md").read_text()


@pytest.fixture
def client() -> Iterator[fencepost.Client]:
    with fencepost.connect("memory:") as client:
        yield client


def source(path: str) -> str:
    return (ROOT / path).read_text()


def documented() -> dict[int, str]:
    """The errors of the page, with their names."""
    rows = re.findall(r"^\| (\d+) \| `([a-z-]+)` \|", ERRORS, re.MULTILINE)
    found = {int(code): name for code, name in rows}
    assert len(found) == len(rows), "a number is there twice"
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
    return matched(source("bindings-rs/src/error.rs"))


def of_c() -> dict[int, str]:
    numbers = re.findall(r"^    (\w+) = (\d+),", source("bindings-c/src/result.rs"), re.MULTILINE)
    names = dict(
        re.findall(r'^    (\w+), c"([a-z-]+)",', source("bindings-c/src/result_names.rs"), re.MULTILINE)
    )
    return {int(code): names[variant] for variant, code in numbers if code != "0"}


def literals(folder: str, suffix: str, pattern: str) -> dict[int, str]:
    """The errors that a binding names in its own sources, by number and name side by side."""
    texts = [path.read_text() for path in sorted((ROOT / folder).rglob(f"*{suffix}"))]
    return {int(code): name for text in texts for code, name in re.findall(pattern, text)}


def of_python() -> dict[int, str]:
    pattern = r'\b([1-5]\d\d)(?:, name: str = |,\s+)"([a-z]+(?:-[a-z]+)*)"'
    return literals("bindings-py/python/fencepost", ".py", pattern)


def of_javascript() -> dict[int, str]:
    return literals("bindings-wasm/js", ".ts", r'\b([1-5]\d\d),\s+"([a-z]+(?:-[a-z]+)*)"')


SOURCES = {
    "core": (of_the_core, {101, 210, 301, 316, 401, 407}),
    "rust": (of_rust, {501, 506}),
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
    told = {int(code): every if where == "all" else sorted(where.lower().split(", ")) for code, where in rows}
    assert told == {code: [name for name in every if code in SOURCES[name][0]()] for code in told}


def test_every_row_has_a_meaning_and_a_remedy() -> None:
    rows = [line for line in ERRORS.splitlines() if re.match(r"\| \d{3} ", line)]
    assert [row for row in rows if not all(cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])] == []


def option(name: str) -> list[str]:
    """The cells of an option's row: unit, range, default, meaning."""
    row = re.search(rf"^\| `{name}`[^|]*\|(.*)\|$", OPTIONS, re.MULTILINE)
    assert row, f"no row of {name}"
    return [cell.strip() for cell in row[1].split("|")]


DEFAULTS = {
    "ttl": ("10 s", "core/src/lease.rs", "DEFAULT_TTL: Duration = Duration::from_secs(10)"),
    "margin": ("2 ms", "core/src/lease.rs", "DEFAULT_MARGIN: Duration = Duration::from_millis(2)"),
    "poll": ("100 ms", "core/src/redis/settings.rs", "DEFAULT_POLL: Duration = Duration::from_millis(100)"),
    "answer_within": (
        "5 s",
        "core/src/redis/settings.rs",
        "DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5)",
    ),
    "node_prefix": ("`node_`", "core/src/zookeeper/raw.rs", 'unwrap_or_else(|| "node_".into())'),
    "layout": ("`curator`", "core/src/zookeeper/raw.rs", 'None | Some("curator") => Layout::Curator'),
    "connect_timeout": (
        "5 s",
        "bindings-rs/src/client/builder.rs",
        "CONNECT_TIMEOUT: Duration = Duration::from_secs(5)",
    ),
    "renew": ("yes", "core/src/settings.rs", "renew.unwrap_or(true)"),
    "revocable": ("no", "core/src/zookeeper/raw.rs", "self.revocable.unwrap_or_default()"),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_is_that_of_the_core(name: str) -> None:
    shown, path, written = DEFAULTS[name]
    assert option(name)[2] == shown
    assert written in source(path)


def test_the_default_of_answer_within_is_the_same_on_zookeeper() -> None:
    assert "DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5)" in source(
        "core/src/zookeeper/settings.rs"
    )


YEAR = timedelta(days=365)
MORE = YEAR + timedelta(microseconds=1)
#: By option: what the range on the page says, values within it, and values outside of it with their errors.
RANGES: dict[str, tuple[str, list[object], list[tuple[object, str]]]] = {
    "ttl": (
        "5 ms and three times `margin`, to 365 days",
        [0.006, YEAR],
        [(0.0059, "lease-too-short"), (MORE, "too-long"), (0, "not-positive")],
    ),
    "margin": (
        "more than 0, to a third of `ttl`",
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
    assert option(name)[1] == shown
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
    assert option("permits")[1] == "1 to 4294967295"
    assert option("names")[1] == "1 to 64, each lock once"
    client.semaphore("presses", 2**32 - 1)
    client.multi_lock([str(number) for number in range(64)])
    for permits in (0, 2**32):
        with pytest.raises(fencepost.ConfigError, match="permits"):
            client.semaphore("presses", permits)
    for names in ([], ["a", "a"], [str(number) for number in range(65)]):
        with pytest.raises(fencepost.ConfigError):
            client.multi_lock(names)


def test_every_option_of_the_sources_is_on_the_page() -> None:
    raw = source("core/src/zookeeper/raw.rs")
    fields = re.search(r"pub struct RawZooKeeper \{(.*?)\n\}", raw, re.DOTALL)
    redis = re.search(r"RedisString \{(.*?)\n    \}", source("core/src/settings.rs"), re.DOTALL)
    assert fields
    assert redis
    names = set(re.findall(r"^ +(?:pub )?(\w+): ", fields[1] + redis[1], re.MULTILINE))
    # An inspection's, and the lock's name.
    names -= {"of", "action", "node", "fence", "name"}
    assert len(names) > 10
    assert [name for name in sorted(names) if f"| `{name}`" not in OPTIONS] == []
