"""Runs the commands on operations with Python's client for asyncio."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import fencepost
import fencepost.asyncio
from operations import ENDINGS, Failed, claimed, codec, collect, completed, octets, recorded, waits
from work import effect, work_in_tasks

Answer = tuple[str, dict[str, Any]]


class Operations:
    """The scopes, claims and records, by their names in the commands."""

    def __init__(self, clients: dict[str, fencepost.asyncio.Client]) -> None:
        self.clients = clients
        self.scopes: dict[str, fencepost.asyncio.Idempotency] = {}
        self.claims: dict[str, fencepost.asyncio.Claim] = {}
        self.records: dict[str, fencepost.Record] = {}
        self.does = {
            "scope": self.scope,
            "claim": self.claim,
            "consume": self.consume,
            "complete": self.complete,
            "leave": self.leave,
            "derive": self.derive,
            "drop": self.drop,
            "effect": self.effect,
            "work": self.work,
            "issue": self.issue,
            "register": self.register,
            "update": self.update,
            "record": self.record,
            "settle": self.settle,
            "forget": self.forget,
            "once": self.once,
        }

    async def scope(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, client, scope = words
        made = codec(options)
        self.scopes[name] = self.clients[client].idempotency(unquote(scope), codec=made, **options)
        return "ok", {}

    async def claim(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, scope, key = words
        self.claims[name] = await self.scopes[scope].claim(unquote(key), **waits(options))
        return claimed(self.claims[name])

    async def consume(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, scope, token, binding = words
        self.claims[name] = await self.scopes[scope].consume(
            unquote(token), unquote(binding), **waits(options)
        )
        return claimed(self.claims[name])

    async def complete(self, words: list[str], options: dict[str, Any]) -> Answer:
        await self.claims[words[0]].complete(octets(words[1]))
        return completed(self.claims[words[0]])

    async def leave(self, words: list[str], options: dict[str, Any]) -> Answer:
        await self.claims[words[0]].leave()
        return "ok", {}

    async def derive(self, words: list[str], options: dict[str, Any]) -> Answer:
        return "ok", {"derived": self.claims[words[0]].derive(unquote(words[1]))}

    async def drop(self, words: list[str], options: dict[str, Any]) -> Answer:
        del self.claims[words[0]]
        collect()
        return "ok", {}

    async def effect(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, key, path = map(unquote, words)
        effect(path, key, self.claims[name])
        return "ok", {}

    async def work(self, words: list[str], options: dict[str, Any]) -> Answer:
        return await work_in_tasks(self.scopes[words[0]], words[1:])

    async def issue(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, token, binding = words
        await self.scopes[scope].issue(unquote(token), unquote(binding), **options)
        return "ok", {}

    async def register(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, result = words
        outcome = await self.scopes[scope].register(unquote(key), octets(result), **options)
        return ("replayed" if outcome.replayed else "ok"), {"result": outcome.value.hex()}

    async def update(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, operation, version, value = words
        outcome = await self.scopes[scope].update(
            unquote(key), octets(value), operation=unquote(operation), version=int(version), **options
        )
        return ("replayed" if outcome.replayed else "ok"), {"version": outcome.value}

    async def record(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key = words
        record = await self.scopes[scope].look(unquote(key))
        if record is None:
            return "none", {}
        self.records[key] = record
        return "ok", recorded(record)

    async def settle(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, result = words
        outcome = await self.scopes[scope].settle(unquote(key), self.records[key], octets(result))
        return ("replayed" if outcome.replayed else "ok"), {"result": outcome.value.hex()}

    async def forget(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key = words
        await self.scopes[scope].forget(unquote(key), self.records[key])
        return "ok", {}

    async def once(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, ending = words
        runs: list[str] = []

        @self.scopes[scope].once(key=unquote, codec=fencepost.JSON, **ENDINGS[ending])
        async def run(key: str) -> str:
            runs.append(key)
            if ending != "returns":
                raise Failed("declined")
            return "receipt"

        try:
            outcome = await run.outcome(key)
        except Failed:
            return "failed", {"runs": len(runs)}
        return "ok", {"value": outcome.value, "replayed": outcome.replayed, "runs": len(runs)}
