"""Members fail, one after the other, and then all of them, while all machines run."""

from __future__ import annotations

import pytest
from ensemble import CURES, NAMES, Ensemble
from scene import at_work
from workers import Workers
from workloads import QUEUES

#: The session timeout of the clients whose member fails.
BRIEF_MS = 5000
LONG_MS = 60_000


@pytest.mark.parametrize(
    ("fault", "who"),
    [
        ("kill", "follower"),
        ("kill", "leader"),
        ("cut", "follower"),
        ("pause", "leader"),
        ("isolate", "leader"),
        # Clients see the same as in test_silent.py (a silent follower) and test_deposed.py (a deposed
        # leader).
        pytest.param("pause", "follower", marks=pytest.mark.full_product),
        pytest.param("cut", "leader", marks=pytest.mark.full_product),
    ],
)
def test_a_member_fails(ensemble: Ensemble, workers: Workers, root: str, fault: str, who: str) -> None:
    victim = ensemble.member(who)
    # The holders know no other member, so their sessions end with this one.
    holders, others = ensemble.address(victim), ensemble.others(victim)
    times = {"holders_ms": BRIEF_MS, "waiters_ms": LONG_MS}
    with at_work(ensemble, workers, root, holders=holders, others=others, **times) as queues:
        try:
            ensemble.do(f"{fault} {victim}")
            valid_until = queues.holders_lose()
            granted = queues.waiters_are_granted()
            # The workers continue without it.
            workers.wait_for_all()
        finally:
            ensemble.do(f"{CURES[fault]} {victim}")
            ensemble.do("leader")
        for queue, end, begin in zip(QUEUES, valid_until, granted, strict=True):
            assert end <= begin, f"{queue}: was valid {end - begin} µs too long"
        workers.wait_for_all()


def test_all_members_are_started_again(ensemble: Ensemble, workers: Workers, root: str) -> None:
    with at_work(ensemble, workers, root, holders_ms=LONG_MS, waiters_ms=LONG_MS) as queues:
        for verb in ("kill", "start"):
            for name in NAMES:
                ensemble.do(f"{verb} {name}")
        ensemble.do("leader")
        # The sessions survive, and the holders keep their locks: no waiter gets one.
        queues.holders_become_invalid()
        queues.holders_become_valid()
        workers.wait_for_all()
        queues.no_waiter_is_granted()
        queues.release()
        queues.waiters_are_granted()
