"""Contenders stand still until their sessions expire, or are killed, while every machine is at work."""

from __future__ import annotations

from crew import Crew, Crews, kill_all
from ensemble import Ensemble
from scene import at_work

BRIEF_MS = 5000


def test_processes_stand_still_until_their_sessions_expire(ensemble: Ensemble, crew: Crew, root: str) -> None:
    with at_work(ensemble, crew, root, holders_ms=BRIEF_MS, waiters_ms=BRIEF_MS) as queues:
        # Who stands in the middle of every queue is thrown out, and queues again behind the other.
        before = queues.contenders()
        queues.waiters[0].pause()
        queues.stand_otherwise(before, fewer=True)
        queues.waiters[0].resume()
        queues.stand_otherwise(before, fewer=False)
        paused = [*queues.holders.values(), *crew.one_of_each()]
        for peer in paused:
            peer.pause()
        granted = queues.waiters_are_granted(order=(1, 0))
        crew.wait_for_everybody(but=1)
        for peer in paused:
            peer.resume()
        # They have not believed anything meanwhile, and know at once what they have lost.
        doubted = queues.holders_lose()
        assert all(end <= begin for end, begin in zip(doubted, granted, strict=True))
        crew.wait_for_everybody()


def test_processes_are_killed(ensemble: Ensemble, crew: Crew, root: str) -> None:
    with at_work(ensemble, crew, root, holders_ms=BRIEF_MS, waiters_ms=BRIEF_MS) as queues:
        # Holders, and who stands in the middle of every queue.
        kill_all([*queues.holders.values(), queues.waiters[0]])
        crew.replace_one_of_each()
        queues.waiters_are_granted(order=(1,))
        crew.wait_for_everybody()


def test_a_crew_that_was_left_in_the_middle_is_replaced(crews: Crews) -> None:
    left = crews.sound()
    left.work()
    fresh = crews.sound()
    assert fresh is not left
    assert all(peer.process.poll() is not None for gang in left.gangs for peer, _ in gang.peers)
    fresh.work()
    fresh.rest()
    fresh.check()
    assert crews.sound() is fresh
