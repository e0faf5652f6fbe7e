"""Contenders lose their sessions, or their lives, while every machine is at work."""

from __future__ import annotations

from crew import Crew
from ensemble import Ensemble
from queues import Queues
from tree import Tree

BRIEF_MS = 2000
LONG_MS = 20_000


def test_sessions_expire(ensemble: Ensemble, crew: Crew, root: str) -> None:
    tree = Tree(ensemble.hosts)
    queues = Queues(root, tree, ensemble.hosts, ensemble.hosts, LONG_MS, LONG_MS)
    crew.work()
    for peer in crew.one_of_each():
        ensemble.expire(peer)
    # Who stands in the middle of every queue is thrown out, and queues again behind the other.
    before = queues.contenders(tree)
    ensemble.expire(queues.waiters[0])
    queues.stand_otherwise(tree, before)
    for holder in queues.holders.values():
        ensemble.expire(holder)
    queues.holders_lose()
    queues.waiters_are_granted(order=(1, 0))
    crew.wait_for_everybody()
    crew.rest()
    # Whose session is ended by force may believe a moment longer than it has: that is what fences are for.
    crew.check(believed=False)
    queues.close()
    tree.close()
    ensemble.nothing_is_left([*crew.paths, *queues.paths])


def test_processes_are_killed(ensemble: Ensemble, crew: Crew, root: str) -> None:
    tree = Tree(ensemble.hosts)
    queues = Queues(root, tree, ensemble.hosts, ensemble.hosts, BRIEF_MS, BRIEF_MS)
    crew.work()
    # Holders, and who stands in the middle of every queue.
    queues.kill([*queues.holders.values(), queues.waiters[0]])
    crew.replace_one_of_each()
    queues.waiters_are_granted(order=(1,))
    crew.wait_for_everybody()
    crew.rest()
    crew.check()
    queues.close()
    tree.close()
    ensemble.nothing_is_left([*crew.paths, *queues.paths])
