"""Runs the commands on operations with Python's client for threads."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import fencepost
from operations import ENDINGS, Failed, claimed, codec, collect, completed, octets, recorded, waits
from work import effect, work

Answer = tuple[str, dict[str, Any]]


class Operations:
    """The scopes, claims and records, by their names in the commands."""

    def __init__(self, clients: dict[str, fencepost.Client]) -> None:
        self.clients = clients
        self.scopes: dict[str, fencepost.Idempotency] = {}
        self.claims: dict[str, fencepost.Claim] = {}
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

    def scope(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, client, scope = words
        made = codec(options)
        self.scopes[name] = self.clients[client].idempotency(unquote(scope), codec=made, **options)
        return "ok", {}

    def claim(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, scope, key = words
        self.claims[name] = self.scopes[scope].claim(unquote(key), **waits(options))
        return claimed(self.claims[name])

    def consume(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, scope, token, binding = words
        self.claims[name] = self.scopes[scope].consume(unquote(token), unquote(binding), **waits(options))
        return claimed(self.claims[name])

    def complete(self, words: list[str], options: dict[str, Any]) -> Answer:
        self.claims[words[0]].complete(octets(words[1]))
        return completed(self.claims[words[0]])

    def leave(self, words: list[str], options: dict[str, Any]) -> Answer:
        self.claims[words[0]].leave()
        return "ok", {}

    def derive(self, words: list[str], options: dict[str, Any]) -> Answer:
        return "ok", {"derived": self.claims[words[0]].derive(unquote(words[1]))}

    def drop(self, words: list[str], options: dict[str, Any]) -> Answer:
        del self.claims[words[0]]
        collect()
        return "ok", {}

    def effect(self, words: list[str], options: dict[str, Any]) -> Answer:
        name, key, path = map(unquote, words)
        effect(path, key, self.claims[name])
        return "ok", {}

    def work(self, words: list[str], options: dict[str, Any]) -> Answer:
        return work(self.scopes[words[0]], words[1:])

    def issue(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, token, binding = words
        self.scopes[scope].issue(unquote(token), unquote(binding), **options)
        return "ok", {}

    def register(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, result = words
        outcome = self.scopes[scope].register(unquote(key), octets(result), **options)
        return ("replayed" if outcome.replayed else "ok"), {"result": outcome.value.hex()}

    def update(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, operation, version, value = words
        outcome = self.scopes[scope].update(
            unquote(key), octets(value), operation=unquote(operation), version=int(version), **options
        )
        return ("replayed" if outcome.replayed else "ok"), {"version": outcome.value}

    def record(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key = words
        record = self.scopes[scope].look(unquote(key))
        if record is None:
            return "none", {}
        self.records[key] = record
        return "ok", recorded(record)

    def settle(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, result = words
        outcome = self.scopes[scope].settle(unquote(key), self.records[key], octets(result))
        return ("replayed" if outcome.replayed else "ok"), {"result": outcome.value.hex()}

    def forget(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key = words
        self.scopes[scope].forget(unquote(key), self.records[key])
        return "ok", {}

    def once(self, words: list[str], options: dict[str, Any]) -> Answer:
        scope, key, ending = words
        runs: list[str] = []

        @self.scopes[scope].once(key=unquote, codec=fencepost.JSON, **ENDINGS[ending])
        def run(key: str) -> str:
            runs.append(key)
            if ending != "returns":
                raise Failed("declined")
            return "receipt"

        try:
            outcome = run.outcome(key)
        except Failed:
            return "failed", {"runs": len(runs)}
        return "ok", {"value": outcome.value, "replayed": outcome.replayed, "runs": len(runs)}
