"""Settings of the middleware that are not valid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fencepost
import pytest
from fencepost.web import AsgiMiddleware, WsgiMiddleware

EXAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "tests" / "http.json").read_text(encoding="utf-8")
)


def make(kind: Any, **settings: Any) -> object:
    return kind(object(), object(), **{"scope": str, "secret": "a secret of a test", **settings})


@pytest.mark.parametrize("kind", [AsgiMiddleware, WsgiMiddleware])
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"scope": "shop-7"}, "scope is 'shop-7': give a function"),
        ({"secret": "short"}, "the secret has 5 bytes: give at least 16"),
        ({"secret": 7}, "the secret is 7"),
        ({"secret": []}, "secret is an empty list"),
        ({"secret": ["a secret of a test", b"short"]}, "the secret has 5 bytes: give at least 16"),
        ({"methods": "POST"}, "give a list of str"),
        ({"methods": [7]}, "a method is 7"),
        ({"methods": ["POST", "patch"]}, "methods has 'patch': give 'PATCH'"),
        ({"methods": [""]}, "methods has ''"),
        ({"methods": ["PO ST"]}, "methods has 'PO ST'"),
        ({"covers": True}, "covers is True: give a function"),
        ({"required": 1}, "required is 1: give True or False"),
        ({"fail_open": "no"}, "fail_open is 'no'"),
        ({"wait": 0}, "wait is 0: give more than 0 seconds"),
        ({"wait": "1"}, "wait is '1'"),
        ({"max_body": -1}, "max_body is -1"),
        ({"max_body": 1.5}, "max_body is 1.5: give a number of bytes"),
        ({"max_result": 1_000_001}, "give 0 to 1000000 bytes"),
        ({"ends": {404: "free"}}, "ends has 404: 'free'"),
        ({"ends": {"404": "release"}}, "ends has '404'"),
        ({"ends": {600: "leave"}}, "ends has 600"),
        ({"stored_headers": "x-order"}, "give a list of str"),
        ({"tokens": None}, "tokens is None"),
        ({"token_path": "/tokens"}, "give tokens=True"),
        ({"token_path": "tokens", "tokens": True}, "begins with a slash"),
    ],
)
def test_a_setting_that_is_not_valid(kind: Any, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(fencepost.ConfigError, match=says):
        make(kind, **settings)


@pytest.mark.parametrize("name", EXAMPLES["forbidden_headers"])
def test_a_header_that_cannot_be_stored(name: str) -> None:
    with pytest.raises(fencepost.ConfigError, match=r"stored_headers has .*: remove it"):
        make(AsgiMiddleware, stored_headers=[name])
