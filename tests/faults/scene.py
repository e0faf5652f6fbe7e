"""Runs the queues and the workers during a fault, and checks them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ensemble import Ensemble
from queues import Queues
from tree import Tree
from workers import Workers, kill_all


@contextmanager
def at_work(
    ensemble: Ensemble,
    workers: Workers,
    root: str,
    *,
    holders: str | None = None,
    others: str | None = None,
    holders_ms: int,
    waiters_ms: int,
) -> Iterator[Queues]:
    """Runs the queues and the workers during the body; then checks them, and that no node remains.

    `holders` are the members that holders connect to, `others` those of all other peers; the default is all
    members.
    """
    tree = Tree(others or ensemble.hosts)
    queues = Queues(root, tree, holders or ensemble.hosts, others or ensemble.hosts, holders_ms, waiters_ms)
    try:
        queues.fill()
        workers.start()
        yield queues
        workers.stop()
        workers.check()
    except BaseException:
        # Some peers may be paused, or wait for ever.
        kill_all(queues.peers)
        raise
    finally:
        queues.close()
        tree.close()
    ensemble.wait_for_no_contenders([*workers.paths, *queues.paths])
