"""Scenarios: how they are read, and how one is played with a peer."""

from __future__ import annotations

import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from peer import PATIENCE, Answer, Peer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILES = sorted((Path(__file__).resolve().parent / "scenarios").glob("*.toml"))
BACKENDS = ("memory", "zookeeper", "redis")

#: What a lock of a kind is in the protocol: its constructor, and the options that go with it.
KINDS = {
    "mutex": ("mutex", ""),
    "single": ("mutex", " fair=false"),
    "reader": ("reader", ""),
    "writer": ("writer", ""),
    "election": ("election", ""),
    "semaphore": ("semaphore", " permits=1"),
    "multi": ("multi", ""),
}

STEP = frozenset({"do", "later", "of", "answer", "until", "has", "least", "most", "same", "above", "pending"})


@dataclass(frozen=True)
class Scenario:
    """What clients do, and what has to come of it."""

    name: str
    #: What a user relies on.
    why: str
    steps: list[dict[str, Any]]
    backends: list[str] = field(default_factory=lambda: list(BACKENDS))
    kinds: list[str] = field(default_factory=lambda: ["mutex"])
    clients: list[str] = field(default_factory=lambda: ["one", "two"])
    #: Languages that cannot say this, and why.
    without: dict[str, str] = field(default_factory=dict)
    #: Languages that do something else, and what.
    fails: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert set(self.backends) <= set(BACKENDS), f"{self.name}: no such backend"
        assert set(self.kinds) <= set(KINDS), f"{self.name}: no such kind"
        for step in self.steps:
            assert set(step) <= STEP, f"{self.name}: {step} has keys that mean nothing"


def read() -> list[Scenario]:
    """All scenarios."""
    found = [Scenario(**each) for file in FILES for each in tomllib.loads(file.read_text())["scenario"]]
    names = [each.name for each in found]
    assert len(set(names)) == len(names), "two scenarios have the same name"
    return found


class Play:
    """One scenario in the course of being played."""

    def __init__(self, peer: Peer, scenario: Scenario, kind: str, url: str) -> None:
        self._peer = peer
        self._scenario = scenario
        self._kind, self._options = KINDS[kind]
        self._url = url
        #: No other scenario has these names.
        self._unique = uuid.uuid4().hex
        self._later: dict[str, tuple[str, str]] = {}
        self._fences: dict[str, int] = {}

    def run(self) -> None:
        """Takes all steps."""
        for client in self._scenario.clients:
            url = quote(self._url.replace("$n", self._unique))
            answer = self._peer.ask(f"client {client} {url}")
            assert answer["answer"] == "ok", answer
        for step in self._scenario.steps:
            self._take(step)

    def _take(self, step: dict[str, Any]) -> None:
        if "pending" in step:
            number, line = self._later[step["pending"]]
            assert not self._peer.answered(number), f"`{line}` is over: {self._peer.answer(number, line)}"
            return
        if "of" in step:
            number, line = self._later.pop(step["of"])
            self._check(step, line, self._peer.answer(number, line))
            return
        line = self._filled(step["do"])
        if "later" in step:
            self._later[step["later"]] = (self._peer.send(line), line)
            return
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._peer.ask(line)
            try:
                self._check(step, line, answer)
                return
            except AssertionError:
                if not step.get("until") or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def _filled(self, line: str) -> str:
        if "$kind" in line:
            line = line.replace("$kind", self._kind) + self._options
        return line.replace("$n", self._unique)

    def _check(self, step: dict[str, Any], line: str, answer: Answer) -> None:
        what = f"`{line}`: {answer}, and not {step}"
        assert answer["answer"] == step.get("answer", "ok"), what
        if "contenders" in answer:
            contenders = answer["contenders"]
            answer["holders"] = sum(each["holds"] for each in contenders)
            answer["waiters"] = len(contenders) - answer["holders"]
            answer["identifiers"] = [each["identifier"] for each in contenders]
        for key, value in step.get("has", {}).items():
            assert answer[key] == value, what
        for key, value in step.get("least", {}).items():
            assert answer[key] >= value, what
        for key, value in step.get("most", {}).items():
            assert answer[key] <= value, what
        if "fence" in answer:
            fence, name = int(answer["fence"]), line.split()[1]
            if "same" in step:
                assert fence == self._fences[step["same"]], what
            if "above" in step:
                assert fence > self._fences[step["above"]], what
            self._fences[name] = fence
