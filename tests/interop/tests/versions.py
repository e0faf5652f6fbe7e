"""The versions of ZooKeeper that a test runs on: the newest, or every one."""

from __future__ import annotations

import pytest

VERSIONS = ("3.8", "3.9")
OLDER = VERSIONS[:-1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of the full product."""
    help = "run every test on every version of ZooKeeper"
    parser.addoption("--every-version", action="store_true", help=help)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Runs a test on the older versions only if they differ in what it needs (`every_version`)."""
    if config.getoption("--every-version"):
        return
    config.hook.pytest_deselected(items=[item for item in items if not _runs(item)])
    items[:] = [item for item in items if _runs(item)]


def _runs(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    older = call is not None and any(value in OLDER for value in call.params.values())
    return not older or item.get_closest_marker("every_version") is not None
