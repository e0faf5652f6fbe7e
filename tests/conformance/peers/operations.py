"""Shared code of the Python peers for operations: bytes, records, claims, failures of operations."""

from __future__ import annotations

import gc
from typing import Any

import fencepost


class Failed(Exception):
    """An operation has failed."""


#: The options of `once` for each way in which a function ends.
ENDINGS: dict[str, dict[str, Any]] = {
    "returns": {},
    "leaves": {},
    "releases": {"release_on": Failed},
    "stores": {"store_on": Failed},
}


def octets(word: str) -> bytes:
    """The bytes of a word: ``00ff``, or ``00ff*1000``."""
    digits, _, times = word.partition("*")
    return bytes.fromhex(digits) * int(times or 1)


def codec(options: dict[str, Any]) -> fencepost.Codec:
    """A codec for results that are bytes, with the tag of the options."""
    return fencepost.Codec(options.pop("tag", "bytes"), bytes, bytes)


def waits(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a claim as Python's arguments."""
    return {"blocking" if name == "wait" else name: value for name, value in options.items()}


def claimed(claim: Any) -> tuple[str, dict[str, Any]]:
    """The answer to a claim."""
    if claim.replayed:
        return "replayed", stored(claim)
    return "claimed", {"fence": str(claim.fence), "takeovers": claim.takeovers}


def completed(claim: Any) -> tuple[str, dict[str, Any]]:
    """The answer to a completion."""
    return ("replayed", stored(claim)) if claim.replayed else ("ok", {})


def stored(claim: Any) -> dict[str, Any]:
    """The result of a claim."""
    return {"result": claim.result.hex(), "tag": claim.tag}


def recorded(record: fencepost.Record | None) -> dict[str, Any]:
    """The fields of a record."""
    if record is None:
        return {}
    return {
        "state": record.state,
        "takeovers": record.takeovers,
        "policy": record.policy,
        "version": record.version,
        "tag": record.tag,
        "result": record.result.hex(),
    }


def collect() -> None:
    """Collects unreferenced objects."""
    gc.collect()
