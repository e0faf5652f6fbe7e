"""Shared code of the Python peers: commands, locks by kind, answers. The protocol is in ../README.md."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import fencepost
from fencepost import FencepostError
from fencepost.testing import MemoryServer
from operations import recorded

#: Options in milliseconds, which Python's API expects in seconds.
DURATIONS = frozenset(
    {"ttl", "max_hold", "timeout", "lease", "retention", "poll", "margin", "life", "answer_within"}
)


@dataclass(frozen=True)
class Command:
    """One line: its number, verb, words and options."""

    number: str
    verb: str
    words: list[str]
    options: dict[str, Any]


def parse(line: str) -> Command:
    """The command of a line."""
    number, verb, *rest = line.split()
    words = [word for word in rest if "=" not in word]
    options = dict(word.split("=", 1) for word in rest if "=" in word)
    return Command(number, verb, words, {name: value(name, text) for name, text in options.items()})


def value(option: str, text: str) -> Any:
    """The value of an option as a Python type."""
    if option in DURATIONS:
        return int(text) / 1000
    if option == "permits":
        return int(text)
    return {"true": True, "false": False}.get(text, unquote(text))


def make_lock(client: Any, kind: str, name: str, options: dict[str, Any]) -> Any:
    """Makes a lock of that kind."""
    if kind == "multi":
        return client.multi_lock([unquote(each) for each in name.split(",")], **options)
    name = unquote(name)
    if kind in ("reader", "writer"):
        return getattr(client.read_write_lock(name, **options), kind)
    if kind == "semaphore":
        permits = options.pop("permits")
        return client.semaphore(name, permits, **options)
    makes = {"mutex": client.lock, "election": client.election}
    return makes[kind](name, **options)


def control(verb: str, client: Any, url: str) -> None:
    """Controls the session of a client."""
    getattr(MemoryServer(unquote(url)).session(client), verb)()


def look(grant: Any) -> dict[str, Any]:
    """The state of a grant or a claim."""
    remaining = grant.remaining()
    if hasattr(grant, "takeovers"):
        more = {"takeovers": grant.takeovers, "replayed": grant.replayed}
    else:
        more = {"revoke": grant.revoke_requested}
    return {
        "fence": str(grant.fence),
        "valid": grant.is_valid,
        "remaining": None if remaining is None else int(remaining * 1000),
        "lost": grant.lost.is_set(),
        **more,
    }


def described(contenders: Iterable[Any]) -> list[dict[str, Any]]:
    """Contenders in the order in which the client returns them."""
    return [
        {
            "holds": each.holds,
            "shared": each.shared,
            "identifier": each.identifier,
            "fence": str(each.fence),
        }
        for each in contenders
    ]


def failure(error: Exception) -> tuple[str, dict[str, Any]]:
    """The answer to a command that has failed."""
    more: dict[str, Any] = {"detail": str(error)}
    if not isinstance(error, FencepostError):
        return f"exception {type(error).__name__}", more
    if isinstance(error, fencepost.InProgress):
        more["retry_after"] = None if error.retry_after is None else int(error.retry_after * 1000)
    if isinstance(error, fencepost.Conflict):
        more |= recorded(error.record)
    return error.name, more


def say(number: str, answer: str, **more: Any) -> None:
    """Prints one answer, in one write."""
    print(json.dumps({"id": number, "answer": answer, **more}) + "\n", end="", flush=True)
