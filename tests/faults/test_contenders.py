"""Contenders are paused until their sessions expire, or are killed, while all machines run."""

from __future__ import annotations

from ensemble import Ensemble
from scene import at_work
from workers import WorkerPool, Workers, kill_all

BRIEF_MS = 5000


def test_processes_are_paused_until_their_sessions_expire(
    ensemble: Ensemble, workers: Workers, root: str
) -> None:
    with at_work(ensemble, workers, root, holders_ms=BRIEF_MS, waiters_ms=BRIEF_MS) as queues:
        # The first waiter of every queue loses its session, and joins the queue again behind the other
        # waiter.
        before = queues.contenders()
        queues.waiters[0].pause()
        queues.wait_for_change(before, fewer=True)
        queues.waiters[0].resume()
        queues.wait_for_change(before, fewer=False)
        paused = [*queues.holders.values(), *workers.one_of_each()]
        for peer in paused:
            peer.pause()
        granted = queues.waiters_are_granted(order=(1, 0))
        workers.wait_for_all(except_for=1)
        for peer in paused:
            peer.resume()
        # The paused holders had no valid grant meanwhile, and report their losses at once.
        valid_until = queues.holders_lose()
        assert all(end <= begin for end, begin in zip(valid_until, granted, strict=True))
        workers.wait_for_all()


def test_processes_are_killed(ensemble: Ensemble, workers: Workers, root: str) -> None:
    with at_work(ensemble, workers, root, holders_ms=BRIEF_MS, waiters_ms=BRIEF_MS) as queues:
        # The holders, and the first waiter of every queue.
        kill_all([*queues.holders.values(), queues.waiters[0]])
        workers.replace_one_of_each()
        queues.waiters_are_granted(order=(1,))
        workers.wait_for_all()


def test_workers_of_a_failed_test_are_replaced(pool: WorkerPool) -> None:
    left = pool.get()
    left.start()
    fresh = pool.get()
    assert fresh is not left
    assert all(peer.process.poll() is not None for group in left.groups for peer, _ in group.peers)
    fresh.start()
    fresh.stop()
    fresh.check()
    assert pool.get() is fresh
