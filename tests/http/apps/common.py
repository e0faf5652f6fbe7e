"""Shared code of the server programs in Python: their arguments, and the handler."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qs

import redis
import redis.asyncio

T = TypeVar("T")

SECRET = "a secret of the suite"
LIMIT = 60
"""How long the handler waits at its gate, in seconds."""
PIECE = b"piece\n"
AT_THE_GATE: dict[str, Any] = {"socket_timeout": 2 * LIMIT}
"""Options of the client of the effects: it may wait."""

PORT = int(sys.argv[1])
STORE, EFFECTS = sys.argv[2:4]
_OPTIONS: dict[str, Any] = json.loads(sys.argv[4])
SCOPE: str = _OPTIONS.pop("scope")
OF_CLIENT: dict[str, Any] = {
    name: _OPTIONS.pop(name) for name in ("lease", "on_lease_end", "answer_within") if name in _OPTIONS
}
"""The options of the scope."""
SETTINGS: dict[str, Any] = {"secret": SECRET, "tokens": True, "token_path": "/tokens", **_OPTIONS}
"""The settings of the middleware, without the tenant."""


# The suite reads the middleware's log messages.
logging.basicConfig(format="%(message)s")


class Failed(Exception):
    """The handler fails, as its request demands."""


@dataclass
class Reply:
    """The response of the handler."""

    status: int
    headers: dict[str, str]
    body: bytes
    pieces: int = 0
    """How many pieces the body has, in place of ``body``."""


class Handler:
    """One run of the handler."""

    def __init__(self, query: str, body: bytes, claim: Any) -> None:
        given = {name: values[0] for name, values in parse_qs(query).items()}
        self.id = given["id"]
        self.is_gated = given.get("gate") == "1"
        self._statuses = [int(status) for status in given.get("statuses", "201").split(",")]
        self._size = int(given["size"]) if "size" in given else None
        self._pieces = int(given.get("pieces", 0))
        self._announced = given["announced"].split(",") if "announced" in given else []
        self._body = body
        self._claim = claim

    @property
    def counter(self) -> str:
        return f"http:{self.id}:runs"

    @property
    def gate(self) -> str:
        return f"http:{self.id}:gate"

    @property
    def waits_before(self) -> bool:
        """Whether the gate is before the whole response."""
        return self.is_gated and self._pieces == 0

    def reply(self, run: int) -> Reply:
        """The response of this run."""
        status = _of(self._statuses, run)
        if status == 0:
            raise Failed(f"run {run} of {self.id}")
        is_plain = self._pieces or self._size is not None
        headers = {
            "Content-Type": "text/plain" if is_plain else "application/json",
            "Location": f"/orders/{self.id}",
            "Set-Cookie": f"session={run}",
            "X-Run": str(run),
        }
        if self._announced:
            headers["Content-Length"] = _of(self._announced, run)
        return Reply(status, headers, self._content(run), self._pieces)

    def _content(self, run: int) -> bytes:
        if self._size is not None:
            return b"x" * self._size
        claim = self._claim
        return json.dumps(
            {
                "run": run,
                "length": len(self._body),
                "sha256": hashlib.sha256(self._body).hexdigest(),
                "takeovers": None if claim is None else claim.takeovers,
                "derived": None if claim is None else claim.derive("charge"),
            }
        ).encode()


def _of(runs: list[T], run: int) -> T:
    """The entry for this run; all further runs use the last entry."""
    return runs[min(run, len(runs)) - 1]


def handle(effects: redis.Redis, handler: Handler) -> Reply:
    """Runs the handler in a thread."""
    store: Any = effects
    run = store.incr(handler.counter)
    if handler.waits_before:
        store.blpop([handler.gate], LIMIT)
    return handler.reply(run)


def pieces(effects: redis.Redis, handler: Handler, count: int) -> Iterator[bytes]:
    """The pieces of a body."""
    for number in range(count):
        if handler.is_gated and number == count - 1:
            effects.blpop([handler.gate], LIMIT)
        yield PIECE


async def handle_async(effects: redis.asyncio.Redis, handler: Handler) -> Reply:
    """Runs the handler on an event loop."""
    store: Any = effects
    run = await store.incr(handler.counter)
    if handler.waits_before:
        await store.blpop([handler.gate], LIMIT)
    return handler.reply(run)


async def pieces_async(effects: redis.asyncio.Redis, handler: Handler, count: int) -> AsyncIterator[bytes]:
    """The pieces of a body."""
    store: Any = effects
    for number in range(count):
        if handler.is_gated and number == count - 1:
            await store.blpop([handler.gate], LIMIT)
        yield PIECE
