"""Members go away, one after the other, and then all of them, while every machine is at work."""

from __future__ import annotations

import pytest
from crew import Crew
from ensemble import CURES, NAMES, Ensemble
from lines import QUEUES
from scene import at_work

#: Of those whose member goes away: it ends soon after.
BRIEF_MS = 5000
LONG_MS = 60_000


@pytest.mark.parametrize(
    ("fault", "who"),
    [
        *((fault, who) for fault in ("kill", "pause", "cut") for who in ("follower", "leader")),
        ("isolate", "leader"),
    ],
)
def test_a_member_goes_away(ensemble: Ensemble, crew: Crew, root: str, fault: str, who: str) -> None:
    victim = ensemble.member(who)
    # Those who hold know no other member: their sessions end with it.
    holders, others = ensemble.address(victim), ensemble.others(victim)
    times = {"holders_ms": BRIEF_MS, "waiters_ms": LONG_MS}
    with at_work(ensemble, crew, root, holders=holders, others=others, **times) as queues:
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


def test_all_members_are_started_again(ensemble: Ensemble, crew: Crew, root: str) -> None:
    with at_work(ensemble, crew, root, holders_ms=LONG_MS, waiters_ms=LONG_MS) as queues:
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
