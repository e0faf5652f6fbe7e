"""The table of options that all languages read, ``tests/options.json``: with the hub's settings, and with the
constructors of both clients. The tests send no request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from fencepost._fencepost import option_type
from fencepost.hub import Settings

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "tests" / "options.json").read_text(encoding="utf-8")
)
#: Nothing listens at port 1.
URLS = {"zookeeper": "zk://127.0.0.1:1", "redis": "redis://127.0.0.1:1", "memory": "memory:"}


def by_hub(row: dict[str, Any]) -> Settings:
    return Settings(json.dumps({"server": row["server"], "kind": row["kind"], **row["options"]}))


def by_client(client: object, row: dict[str, Any]) -> Settings:
    """The settings of a lock that the client makes, with timedeltas as durations."""
    options: dict[str, Any] = {
        name: timedelta(microseconds=value) if option_type(name) == "duration" else value
        for name, value in row["options"].items()
    }
    method, side = {
        "reader": ("read_write_lock", "reader"),
        "writer": ("read_write_lock", "writer"),
        "multi-lock": ("multi_lock", None),
    }.get(row["kind"], (row["kind"], None))
    made = getattr(client, method)(**options)
    checked: Settings = (getattr(made, side) if side else made)._settings
    return checked


def is_as_it_says(row: dict[str, Any], settings: Callable[[], Settings]) -> None:
    """Checks that the settings are those of the hub, or raise the row's error."""
    if "error" not in row:
        assert repr(settings()) == repr(by_hub(row))
        return
    with pytest.raises((fencepost.ConfigError, TypeError)) as caught:
        settings()
    if isinstance(caught.value, fencepost.ConfigError):
        assert caught.value.name == row["error"]
        assert row["says"] in str(caught.value)
    else:  # No server has that option for this kind, so the constructor has no such keyword.
        assert row["error"] == "unknown-option"
        assert "unexpected keyword argument" in str(caught.value)


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, fencepost.Client]]:
    made = {server: fencepost.connect(url) for server, url in URLS.items()}
    yield made
    for client in made.values():
        client.close()


@pytest.mark.parametrize("row", ROWS, ids=json.dumps)
def test_the_hub_reads_a_row(row: dict[str, Any]) -> None:
    if "error" in row:
        with pytest.raises(fencepost.ConfigError) as caught:
            by_hub(row)
        assert caught.value.name == row["error"]
        assert row["says"] in str(caught.value)
    else:
        family = "redis" if row["server"] == "redis" else "zookeeper"
        assert by_hub(row).family == family


@pytest.mark.parametrize("row", ROWS, ids=json.dumps)
def test_a_client_reads_a_row(clients: dict[str, fencepost.Client], row: dict[str, Any]) -> None:
    is_as_it_says(row, lambda: by_client(clients[row["server"]], row))


async def test_a_client_on_a_loop_reads_the_rows() -> None:
    for server, url in URLS.items():
        async with fencepost.asyncio.connect(url) as client:
            for row in ROWS:
                if row["server"] == server:
                    is_as_it_says(row, lambda row=row: by_client(client, row))  # type: ignore[misc]


def test_most_rows_reach_the_core(clients: dict[str, fencepost.Client]) -> None:
    refused = []
    for row in ROWS:
        try:
            by_client(clients[row["server"]], row)
        except fencepost.ConfigError:
            pass
        except TypeError:
            refused.append(row)
    assert len(refused) < len(ROWS) / 5


def test_an_option_has_a_type() -> None:
    names = ("ttl", "permits", "fair", "layout", "names", "tll")
    assert [option_type(name) for name in names] == ["duration", "whole", "flag", "text", "texts", None]


def test_what_the_core_does_not_know_is_not_ignored() -> None:
    from fencepost._client.arguments import check, settings

    with pytest.raises(fencepost.ConfigError) as caught:
        check(settings("redis", "", "lock", "stock/42", {"tll": 1}))
    assert (caught.value.code, caught.value.name) == (108, "unknown-option")
    assert '"tll"' in str(caught.value)


def test_a_prefix_that_has_no_utf_8_is_refused() -> None:
    from fencepost._client.arguments import settings

    with pytest.raises(fencepost.ConfigError, match=r"the prefix is .* lone surrogate"):
        settings("zookeeper", "/\ud800", "lock", "stock/42", {})
