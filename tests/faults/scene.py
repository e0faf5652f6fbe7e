"""What stands on the servers while a fault happens, and what has to be true when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crew import Crew, kill_all
from ensemble import Ensemble
from queues import Queues
from tree import Tree


@contextmanager
def at_work(
    ensemble: Ensemble,
    crew: Crew,
    root: str,
    *,
    holders: str | None = None,
    others: str | None = None,
    holders_ms: int,
    waiters_ms: int,
) -> Iterator[Queues]:
    """The queues stand and the crew works; then both end well, and nothing of them is left.

    `holders` are the members that holders know, `others` those that everybody else knows; all, if not given.
    """
    tree = Tree(others or ensemble.hosts)
    queues = Queues(root, tree, holders or ensemble.hosts, others or ensemble.hosts, holders_ms, waiters_ms)
    try:
        queues.line_up()
        crew.work()
        yield queues
        crew.rest()
        crew.check()
    except BaseException:
        # Some may stand still, or wait for ever.
        kill_all(queues.everybody)
        raise
    finally:
        queues.close()
        tree.close()
    ensemble.nothing_is_left([*crew.paths, *queues.paths])
