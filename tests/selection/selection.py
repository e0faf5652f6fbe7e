"""Which combinations of a test's parameters run: a covering part of them, or with `--full-product` all.

A test with n `parametrize` marks runs on so many combinations that all values of any n - 1 marks meet, and
at least every value once. So a test of clients and kinds of locks has every client and every kind, and a
test of pairs of clients and kinds has every pair and every kind. What a kind does is decided in the core,
whose transcripts, simulator and explorer have all of them: a client's own is what it asks of its library.

Of the versions of ZooKeeper a test has the newest. It has every version if they differ in what the test
needs (`every_version`). What only a new version of a peer can change, the full product alone has
(`full_product`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import pytest

VERSIONS = ("3.8", "3.9")
OLDER = VERSIONS[:-1]

#: Values of several marks: (names of its parameters, values), ...
Meeting = tuple[tuple[str, str], ...]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of the full product."""
    help = "run every test with all combinations and versions"
    parser.addoption("--full-product", action="store_true", help=help)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the covering part does not need."""
    if config.getoption("--full-product"):
        return
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if _has_version(item) and item.get_closest_marker("full_product") is None:
            functions[item.nodeid.partition("[")[0]].append(item)
    chosen = {item.nodeid for group in functions.values() for item in _covering(group)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


def _has_version(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    older = call is not None and any(value in OLDER for value in call.params.values())
    return not older or item.get_closest_marker("every_version") is not None


def _covering(items: list[pytest.Item]) -> list[pytest.Item]:
    """Always takes the item that adds most, of those the one with the values taken least so far."""
    rows = [(item, _values(item)) for item in items]
    varying = {name for name in rows[0][1] if len({values[name] for _, values in rows}) > 1}
    strength = max(1, len(varying) - 1)
    left = [(item, _meetings(values, varying, strength)) for item, values in rows]
    missing = {meeting for _, meetings in left for meeting in meetings}
    used: Counter[Meeting] = Counter()
    chosen = []
    while missing:
        best = max(left, key=lambda row: (len(row[1] & missing), -sum(used[meeting] for meeting in row[1])))
        left.remove(best)
        chosen.append(best[0])
        missing -= best[1]
        used.update(best[1])
    return chosen or items


def _values(item: pytest.Item) -> dict[str, str]:
    """What each mark, and each fixture with parameters, gives the test."""
    call = getattr(item, "callspec", None)
    if call is None:
        return {}
    params = dict(call.params)
    values = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        names = [name.strip() for name in names]
        values[",".join(names)] = str([params.pop(name) for name in names])
    return values | {name: str(value) for name, value in params.items()}


def _meetings(values: dict[str, str], varying: set[str], strength: int) -> frozenset[Meeting]:
    pairs = [(name, value) for name, value in sorted(values.items()) if name in varying]
    return frozenset(combinations(pairs, min(strength, len(pairs)))) if pairs else frozenset()
