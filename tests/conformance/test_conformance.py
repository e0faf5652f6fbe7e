"""Every scenario, with every client, on all servers of the scenario."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from peer import COMMANDS, Peer
from place import Place
from scenario import Play, Scenario, read


def cases() -> Iterator[object]:
    """Scenario, kind, languages and backend, without those that a language cannot express."""
    for scenario in read():
        for backend in scenario.backends:
            for kind in scenario.kinds:
                if backend == "redis" and kind != "mutex":
                    continue
                languages = [each for each in COMMANDS if backend == "redis" or each != "javascript-ioredis"]
                languages = [each for each in languages if without(scenario, each) is None]
                for language in languages:
                    for other in languages if scenario.across else [None]:
                        if other != language:
                            yield case(scenario, kind, backend, language, other)


def without(scenario: Scenario, language: str) -> str | None:
    """Why a language cannot express a scenario."""
    return scenario.without.get(language.removesuffix("-ioredis"))


def case(scenario: Scenario, kind: str, backend: str, language: str, other: str | None) -> object:
    """One test."""
    names = [scenario.name, kind, backend, language, *([other] if other else [])]
    reason = scenario.fails.get(language.removesuffix("-ioredis"))
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(scenario, kind, backend, language, other, id="-".join(names), marks=marks)


@pytest.mark.parametrize(("scenario", "kind", "backend", "language", "other"), list(cases()))
def test_scenario(
    peers: dict[str, Peer], scenario: Scenario, kind: str, backend: str, language: str, other: str | None
) -> None:
    roles = {"first": language, **({"other": other} if other else {})}
    playing = {role: peers.pop(name) if name in peers else Peer(name) for role, name in roles.items()}
    try:
        with closing(Place(backend)) as place:
            Play(playing, scenario, kind, place).run()
            for peer in playing.values():
                assert peer.ask("reset")["answer"] == "ok"
    except BaseException:
        # The next scenario gets new peers, because the state of these is unknown.
        for peer in playing.values():
            peer.kill()
        raise
    peers.update({roles[role]: peer for role, peer in playing.items()})
