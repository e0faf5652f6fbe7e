"""The results that callers received, the effects of operations, and whether both are correct."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock


@dataclass(frozen=True)
class Effect:
    """A run of an operation."""

    fence: int
    takeovers: int


@dataclass
class History:
    """The history of many keys."""

    #: The results that callers received, by the key.
    results: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _lock: Lock = field(default_factory=Lock)

    def record(self, key: str, result: str) -> None:
        """Records a result that a caller received."""
        with self._lock:
            self.results[key].append(result)

    def wrong(self, log: Path, policies: dict[str, str]) -> list[str]:
        """The broken promises. `policies` has the policy of every key."""
        effects, answers = read(log)
        found = []
        for key, policy in policies.items():
            results = {*self.results.get(key, []), *answers[key]}
            if len(results) != 1:
                found.append(f"{key} has the results {results}")
            ran = effects[key]
            takeovers = max((effect.takeovers for effect in ran), default=0)
            if policy != "retake" and takeovers:
                found.append(f"{key} was taken over: {ran}")
            if len(ran) > 1 + takeovers:
                found.append(f"{key} has run too often: {ran}")
            in_order = sorted(ran, key=lambda effect: effect.takeovers)
            fences = [effect.fence for effect in in_order]
            if any(fence >= after for fence, after in pairwise(fences)):
                found.append(f"the fences do not grow: {key}: {in_order}")
        known = effects.keys() | answers.keys() | self.results.keys()
        found += [f"no caller has claimed {key}" for key in known - policies.keys()]
        return found


def read(log: Path) -> tuple[dict[str, list[Effect]], dict[str, list[str]]]:
    """The effects and the answers of a file, by their keys. A worker may still be writing the last line, so a
    line without its end does not count.
    """
    effects: dict[str, list[Effect]] = defaultdict(list)
    answers: dict[str, list[str]] = defaultdict(list)
    text = log.read_text()
    for line in text[: text.rfind("\n") + 1].splitlines():
        match line.split():
            case ["effect", key, fence, takeovers]:
                effects[key].append(Effect(int(fence), int(takeovers)))
            case ["answer", key, result]:
                answers[key].append(result)
            case _:
                raise AssertionError(f"no line of a worker: {line}")
    return effects, answers
