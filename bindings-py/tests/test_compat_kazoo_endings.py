"""The ends of a lock of `compat.kazoo` other than a plain release."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kazoo_support import Kazoos
from support import LONG, Program, ZooKeeperBackend


@pytest.fixture
def kazoos(zookeeper: ZooKeeperBackend) -> Iterator[Kazoos]:
    """Clients."""
    kazoos = Kazoos(zookeeper)
    yield kazoos
    kazoos.close()


@pytest.mark.parametrize("name", ["Lock", "WriteLock", "Semaphore"])
def test_a_release_that_is_queued(kazoos: Kazoos, name: str) -> None:
    """A finalizer or a signal handler releases in the middle of the client's own work."""
    client, other = kazoos.client("ours"), kazoos.client("ours")
    recipe, theirs = getattr(client, name)("/l"), getattr(other, name)("/l")
    assert recipe.acquire(timeout=LONG)
    with recipe._bridge._engine.order:
        assert recipe.release() is True
        assert recipe.is_acquired is False
        assert recipe.fence is None
        assert recipe.release() is False
    assert theirs.acquire(timeout=LONG)
    assert recipe.acquire(blocking=False) is False
    assert theirs.release() is True
    assert recipe.acquire(timeout=LONG) is True
    assert recipe.release() is True


def test_a_child_of_a_block_that_exits(kazoos: Kazoos) -> None:
    program = Program("fork_in_block.py", kazoos.backend.url, "l", "compat")
    assert [program.line() for _ in range(2)] == ["child 3", "valid"]
    assert program.finish() == 0


def test_a_release_is_the_first_to_know_of_a_loss(kazoos: Kazoos) -> None:
    """The release of a lost lock is no success, even if the object learns of the loss only then."""
    program = Program("hold.py", kazoos.backend.url, "l", "0", "compat")
    assert int(program.line()) > 0
    with program.stopped():
        kazoos.observer.delete(f"/{kazoos.backend.prefix}/l", recursive=True)
    assert program.line() == "False"
    assert program.finish() == 0
