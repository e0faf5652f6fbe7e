"""How often an application waits for the server in each step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from worker import LANGUAGES, LONG, Proxy, Server, Worker

#: The commands before a step, the step, its answer, and its round trips on Redis and on ZooKeeper. `$k` is a
#: new key, and a claim has the name of its key.
STEPS = {
    "claim": ((), "claim $k retake $k", "claimed", 1, 1),
    "in-progress": (("claim $k retake $k",), "claim other retake $k wait=false", "in-progress", 1, 2),
    "complete": (("claim $k retake $k",), "complete $k 00ff", "ok", 1, 1),
    "replay": (("register retake $k 00ff",), "claim $k retake $k", "replayed", 1, 2),
    "release": (("claim $k retake $k",), "release $k", "ok", 1, 1),
    "leave": (("claim $k retake $k",), "leave $k", "ok", 1, 1),
    "takeover": (("claim $k retake $k", "leave $k"), "claim $k-2 retake $k", "claimed", 1, 3),
    "issue": ((), "issue retake $k session", "ok", 1, 1),
    "consume": (("issue retake $k session",), "consume $k retake $k session", "claimed", 1, 2),
    "register": ((), "register retake $k 00ff", "ok", 1, 1),
    "update": ((), "update retake $k $k-1 0 00ff", "ok", 1, 1),
    "next update": (("update retake $k $k-1 0 00ff",), "update retake $k $k-2 1 00ff", "ok", 1, 1),
}

#: The system may interrupt a client between two requests of one flight, and the first reply must not arrive
#: meanwhile. So the proxy delays replies by this many milliseconds, and the test uses the minimum of a few
#: runs, and of more runs if it is too high.
SLOW = 5
FEW, MOST = 3, 40


@pytest.fixture
def counted(server: Server) -> Iterator[Proxy]:
    """A proxy that counts."""
    proxy = Proxy(server)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_steps_take_as_few_round_trips_as_promised(
    server: Server, workers: dict[str, Worker], counted: Proxy, language: str
) -> None:
    worker = workers[language]
    worker.begin(server, LONG, counted)
    counted.slow(SLOW)
    found: dict[str, int] = {}
    promised: dict[str, int] = {}
    try:
        for step, (before, line, answer, *round_trips) in STEPS.items():
            promised[step] = round_trips[server.family == "zookeeper"]
            for number in range(MOST):
                key = f"{step.replace(' ', '-')}-{number}"
                for each in before:
                    assert worker.ask(each.replace("$k", key))["answer"] in ("ok", "claimed"), each
                taken = count(worker, counted, line.replace("$k", key), answer)
                if taken is not None:
                    found[step] = min(taken, found.get(step, taken))
                if number + 1 >= FEW and found.get(step, MOST) <= promised[step]:
                    break
    finally:
        worker.must("ok", "reset")
    assert found == promised


def count(worker: Worker, proxy: Proxy, line: str, answer: str) -> int | None:
    """The round trips of a command; None if the client has confirmed its session meanwhile. If the client
    removes a watch after the command, that round trip does not count.
    """
    counts = [proxy.counts()]
    # All replies to earlier requests arrive before the reply to this one, which has its own barrier on
    # ZooKeeper.
    worker.must("none", "record retake nobody")
    counts.append(proxy.counts())
    worker.must(answer, line)
    counts.append(proxy.counts())
    begun, settled, done = (each["by_kind"].get("sync", 0) for each in counts)
    _, removed, more = (each["by_kind"].get("removeWatches", 0) for each in counts)
    round_trips: int = counts[2]["flights"] - counts[1]["flights"] - (more - removed)
    # A consume also reads behind a barrier.
    own = line.startswith("consume")
    return None if settled > begun + 1 or done > settled + own else round_trips
