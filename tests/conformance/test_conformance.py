"""Every scenario with every client, on everything that it is for."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from peer import COMMANDS, Peer
from scenario import Play, Scenario, read

#: Where `$n` is, a scenario has a place of its own. No session ends here, however busy the machine is.
ADDRESSES = {
    "memory": (None, "memory:$n"),
    "zookeeper": ("FENCEPOST_ZOOKEEPER", "zk://{}?session_timeout=60000"),
    "redis": ("FENCEPOST_REDIS", "redis://{}"),
}


def cases() -> Iterator[object]:
    """Scenario, kind, language and backend; not what a language cannot say."""
    for scenario in read():
        for backend in scenario.backends:
            for kind in scenario.kinds:
                if backend == "redis" and kind != "mutex":
                    continue
                for language in COMMANDS:
                    if language not in scenario.without:
                        reason = scenario.fails.get(language)
                        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
                        name = f"{scenario.name}-{kind}-{backend}-{language}"
                        yield pytest.param(scenario, kind, backend, language, id=name, marks=marks)


@pytest.mark.parametrize(("scenario", "kind", "backend", "language"), list(cases()))
def test_scenario(peers: dict[str, Peer], scenario: Scenario, kind: str, backend: str, language: str) -> None:
    variable, url = ADDRESSES[backend]
    if variable is not None:
        if variable not in os.environ:
            pytest.fail(f"{variable} is not set: run `python3 tests/servers run -- pytest tests/conformance`")
        url = url.format(os.environ[variable])
    peer = peers.pop(language, None) or Peer(language)
    try:
        Play(peer, scenario, kind, url).run()
        assert peer.ask("reset")["answer"] == "ok"
    except BaseException:
        # The next scenario has a new one: who knows what this one has left.
        peer.kill()
        raise
    peers[language] = peer
