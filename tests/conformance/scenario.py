"""Reads the scenarios, and plays one with a peer."""

from __future__ import annotations

import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from peer import LIMIT, Answer, Peer
from place import Place

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILES = sorted((Path(__file__).resolve().parent / "scenarios").glob("*.toml"))
BACKENDS = ("memory", "zookeeper", "redis")

#: The value of `$bytes` in a scenario: all 256 values of a byte.
BYTES = bytes(range(256)).hex()

#: The value of `$long`: a key of the greatest length.
LONG = 1024 * "k"

#: The kinds of locks in the protocol: the constructor of each, and its options.
KINDS = {
    "mutex": ("mutex", ""),
    "single": ("mutex", " fair=false"),
    "reader": ("reader", ""),
    "writer": ("writer", ""),
    "election": ("election", ""),
    "semaphore": ("semaphore", " permits=1"),
    "multi": ("multi", ""),
}

STEP = frozenset(
    {"do", "in", "later", "of", "answer", "until", "has", "least", "most", "same", "above", "pending"}
)


@dataclass(frozen=True)
class Scenario:
    """The commands of clients, and the expected answers."""

    name: str
    #: The promise that users rely on.
    why: str
    steps: list[dict[str, Any]]
    backends: list[str] = field(default_factory=lambda: list(BACKENDS))
    kinds: list[str] = field(default_factory=lambda: ["mutex"])
    clients: list[str] = field(default_factory=lambda: ["one", "two"])
    #: Clients whose connection the steps cut.
    cuts: list[str] = field(default_factory=list)
    #: Whether each client has a prefix of its own.
    prefixes: bool = False
    #: Whether a peer of another language takes part.
    across: bool = False
    #: Languages that cannot express this scenario, and why.
    without: dict[str, str] = field(default_factory=dict)
    #: Languages that behave differently, and how.
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
    """A scenario that is being played."""

    def __init__(self, peers: dict[str, Peer], scenario: Scenario, kind: str, place: Place) -> None:
        #: The first peer, and under the name `other` the peer of another language.
        self._peers = peers
        self._scenario = scenario
        self._kind, self._options = KINDS[kind]
        self._place = place
        #: Makes the names of this scenario unique.
        self._unique = uuid.uuid4().hex
        self._later: dict[str, tuple[Peer, str, str]] = {}
        self._fences: dict[str, int] = {}

    def run(self) -> None:
        """Plays all steps."""
        for peer in self._peers.values():
            for client in self._scenario.clients:
                prefix = f"/$n-{client}" if self._scenario.prefixes else ""
                url = self._place.url(client, prefix, cut=client in self._scenario.cuts)
                answer = peer.ask(f"client {client} {quote(url.replace('$n', self._unique))}")
                assert answer["answer"] == "ok", answer
        for step in self._scenario.steps:
            self._take(step)

    def _take(self, step: dict[str, Any]) -> None:
        if "pending" in step:
            peer, number, line = self._later[step["pending"]]
            assert not peer.answered(number), f"`{line}` is over: {peer.answer(number, line)}"
            return
        if "of" in step:
            peer, number, line = self._later.pop(step["of"])
            self._check(step, line, peer.answer(number, line))
            return
        peer = self._peers[step.get("in", "first")]
        line = self._filled(step["do"])
        if line.startswith(("cut ", "heal ")):
            self._place.do(*line.split())
            return
        if "later" in step:
            self._later[step["later"]] = (peer, peer.send(line), line)
            return
        deadline = time.monotonic() + LIMIT
        while True:
            answer = peer.ask(line)
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
        line = line.replace("$lease", self._place.lease).replace("$bytes", BYTES)
        line = line.replace("$long", LONG)
        return line.replace("$n", self._unique)

    def _check(self, step: dict[str, Any], line: str, answer: Answer) -> None:
        what = f"`{line:.500}`: {answer!s:.500}, and not {step}"
        expected = step.get("answer", "ok")
        assert answer["answer"] == (
            expected[self._place.backend] if isinstance(expected, dict) else expected
        ), what
        if "contenders" in answer:
            contenders = answer["contenders"]
            answer["holders"] = sum(each["holds"] for each in contenders)
            answer["waiters"] = len(contenders) - answer["holders"]
            answer["identifiers"] = [each["identifier"] for each in contenders]
        for key, value in step.get("has", {}).items():
            found = False if answer.get(key) is None else answer[key]
            assert found == (expanded(value) if key == "result" else value), what
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


def expanded(octets: str) -> str:
    """The hexadecimal digits of bytes as steps write them: ``00ff``, ``00ff*1000``, ``$bytes``."""
    digits, _, times = octets.replace("$bytes", BYTES).partition("*")
    return digits * int(times or 1)
