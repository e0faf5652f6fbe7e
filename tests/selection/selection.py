"""Selects the combinations of a test's parameters: a covering part of them, or all with `--full-product`.

For a test with n `parametrize` marks, the selection contains every combination of values of any n - 1 marks,
and every value at least once. So a test of clients and kinds of locks has every client and every kind, and a
test of pairs of clients and kinds has every pair and every kind. This is enough because the core decides the
behaviour of each kind, and the core's transcripts, simulator and explorer test all kinds. A client only adds
its use of the client library.

A test runs on the newest version of ZooKeeper. It runs on every version if the versions differ in a feature
that the test needs (`every_version`). Tests that only a new version of a peer can break run only in the full
product (`full_product`).
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
    """Deselects the tests that the covering part does not need."""
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
    """Repeatedly chooses the item that adds most, and of equal ones the item with the least used values."""
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
    """The values of each mark, and of each fixture with parameters."""
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
