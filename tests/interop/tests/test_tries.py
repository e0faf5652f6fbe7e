"""A semaphore's try does not wait for a paused waiter, in any language."""

from __future__ import annotations

import time

import pytest
from conftest import Start
from refusals import AT_ONCE, OURS, started
from steer import wait_until
from tree import Tree


@pytest.mark.parametrize("name", OURS)
def test_a_try_does_not_wait_for_a_stopped_waiter(start: Start, tree: Tree, path: str, name: str) -> None:
    kind = f"semaphore:3 {path}"
    holder, waiter = started(start, name), started(start, "python-curator")
    for _ in range(3):
        holder.acquire(kind)
    tree.see_join(path, waiter, kind)
    # The waiter's node in the wait queue, and the node of the permit that it waits for.
    wait_until(lambda: len(tree.contenders(path)) == 5, "the waiter is first in the wait queue")
    waiter.pause()
    try:
        for _ in range(3):
            holder.ask("release")
        # Permits are free, but the waiter is in the wait queue before the try.
        begin = time.monotonic()
        assert not holder.ask(f"acquire {kind} 0")["granted"]
        assert time.monotonic() - begin < AT_ONCE
    finally:
        waiter.resume()
    assert waiter.answer("acquire")["granted"]
    waiter.ask("release")
    holder.acquire(kind)
    holder.ask("release")
