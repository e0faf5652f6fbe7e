"""The table of addresses that all languages read. The texts about them never contain a user or a password.

Every secret in the table has ``sesa`` or ``same`` in it.
"""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from fencepost.hub import Address

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "tests" / "addresses.json").read_text(encoding="utf-8")
)
GOOD = [row for row in ROWS if "kind" in row]
BAD = [row for row in ROWS if "error" in row]
SECRETS = ("sesa", "same")


def hides_secrets(*shown: object) -> None:
    for text in shown:
        assert not any(secret in str(text) for secret in SECRETS)
        assert not any(secret in repr(text) for secret in SECRETS)


def said(error: BaseException) -> list[object]:
    """An exception and its causes, each with all texts that it shows."""
    found: list[object] = []
    at: BaseException | None = error
    while at is not None:
        found += [at, at.args, vars(at), *traceback.format_exception_only(at)]
        at = at.__cause__ or at.__context__
    return found


@pytest.mark.parametrize("row", GOOD, ids=lambda row: row["url"])
def test_a_good_address_is_read(row: dict[str, Any]) -> None:
    address = Address(row["url"])
    expected = {key: value for key, value in row.items() if key != "url"}
    parts = {key: getattr(address, key) for key in expected}
    if "session_timeout" in parts:
        parts["session_timeout"] //= 1000
    assert parts == expected
    hides_secrets(address, address.shown)


@pytest.mark.parametrize("row", BAD, ids=lambda row: row["url"])
async def test_a_bad_address_is_refused(row: dict[str, Any]) -> None:
    for connect in (fencepost.connect, fencepost.asyncio.connect):
        with pytest.raises(fencepost.ConfigError) as caught:
            connect(row["url"])
        assert caught.value.name == row["error"]
        assert row["says"] in str(caught.value)
        hides_secrets(*said(caught.value))


# Nothing listens at port 1.
@pytest.mark.parametrize("user", ["u:sesame@", ":se%2Fsa%23me@"])
def test_a_client_shows_no_password(user: str) -> None:
    url = f"redis://{user}127.0.0.1:1"
    with fencepost.connect(url) as client:
        lock = client.lock("stock/42")
        hides_secrets(client, lock)
        with pytest.raises(fencepost.Refused) as caught:
            lock.acquire(timeout=0.3)
        hides_secrets(*said(caught.value))


async def test_a_client_on_a_loop_shows_no_password() -> None:
    async with fencepost.asyncio.connect("redis://u:sesame@127.0.0.1:1") as client:
        lock = client.lock("stock/42")
        hides_secrets(client, lock)
        with pytest.raises(fencepost.Refused) as caught:
            await lock.acquire(timeout=0.3)
        hides_secrets(*said(caught.value))
