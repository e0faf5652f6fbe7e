"""Members go away, one after the other, and then all of them, while every machine is at work."""

from __future__ import annotations

import pytest
from crew import Crew
from ensemble import CURES, NAMES, Ensemble
from lines import QUEUES
from queues import Queues
from tree import Tree

#: Of those whose member goes away: it ends soon after.
BRIEF_MS = 2000
LONG_MS = 20_000


@pytest.mark.parametrize(
    ("fault", "who"),
    [
        *((fault, who) for fault in ("kill", "pause", "cut") for who in ("follower", "leader")),
        ("isolate", "leader"),
    ],
)
def test_a_member_goes_away(ensemble: Ensemble, crew: Crew, root: str, fault: str, who: str) -> None:
    victim = ensemble.member(who)
    tree = Tree(ensemble.others(victim))
    # Those who hold know no other member: their sessions end with it.
    queues = Queues(root, tree, ensemble.address(victim), ensemble.others(victim), BRIEF_MS, LONG_MS)
    crew.work()
    try:
        ensemble.do(f"{fault} {victim}")
        doubted = queues.holders_lose()
        granted = queues.waiters_are_granted()
        # The others go on without it.
        crew.wait_for_everybody()
    finally:
        ensemble.do(f"{CURES[fault]} {victim}")
        ensemble.do("leader")
    for queue, end, begin in zip(QUEUES, doubted, granted, strict=True):
        assert end <= begin, f"{queue}: believed {end - begin} µs longer"
    crew.wait_for_everybody()
    crew.rest()
    crew.check()
    queues.close()
    tree.close()
    ensemble.nothing_is_left([*crew.paths, *queues.paths])


def test_all_members_are_started_again(ensemble: Ensemble, crew: Crew, root: str) -> None:
    tree = Tree(ensemble.hosts)
    queues = Queues(root, tree, ensemble.hosts, ensemble.hosts, LONG_MS, LONG_MS)
    crew.work()
    for verb in ("kill", "start"):
        for name in NAMES:
            ensemble.do(f"{verb} {name}")
    ensemble.do("leader")
    # The sessions outlast it, with everything that is held: nobody else gets it.
    queues.holders_doubt()
    queues.holders_are_sure_again()
    crew.wait_for_everybody()
    queues.nobody_is_granted()
    queues.release()
    queues.waiters_are_granted()
    crew.rest()
    crew.check()
    queues.close()
    tree.close()
    ensemble.nothing_is_left([*crew.paths, *queues.paths])
