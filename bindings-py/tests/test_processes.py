"""Forks, interrupts, and the end of the process."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import fencepost
import pytest
from conftest import Connect
from support import (
    LONG,
    PROGRAMS,
    Backend,
    Interrupted,
    Program,
    RedisBackend,
    ZooKeeperBackend,
    options,
    wait_until,
)


def test_use_after_a_fork(backend: Backend) -> None:
    program = Program("fork.py", backend.url, backend.name())
    lines = [program.line() for _ in range(4)]
    assert lines == ["WrongProcess:502:wrong-process", "own", "valid", "held"]
    assert program.finish() == 0


def test_a_child_has_servers_of_its_own() -> None:
    """No session of the parent ends in the child, so its locks would stay held for ever."""
    program = Program("fork_memory.py")
    assert [program.line() for _ in range(2)] == ["granted", "valid"]
    assert program.finish() == 0


def test_a_child_that_a_listener_forks_may_wait(zookeeper: ZooKeeperBackend) -> None:
    program = Program("fork_in_listener.py", zookeeper.url, zookeeper.name())
    assert program.line() == "granted"
    assert program.finish() == 0


def test_a_program_that_never_closes_ends(backend: Backend) -> None:
    program = subprocess.run(
        [sys.executable, PROGRAMS / "forget.py", backend.url, backend.name()],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert (program.returncode, program.stdout, program.stderr) == (0, "held\n", "")


@pytest.mark.parametrize("what", ["grant", "waiters", "body", "generator"])
def test_a_program_that_closes_no_asyncio_client_ends_in_silence(server: Backend, what: str) -> None:
    """It may issue only a ResourceWarning, which Python does not show by default."""
    program = subprocess.run(
        [sys.executable, PROGRAMS / "unclosed.py", server.url, server.name(), what],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert (program.returncode, program.stdout, program.stderr) == (0, "end\n", "")
    if what in ("body", "generator"):
        # The end of the loop has ended the block.
        assert server.contenders(server.name()) == 0


def test_an_interrupt_withdraws_the_contender(server: Backend, connect: Connect) -> None:
    lock = connect(server.url).lock(server.name(), **options(server))
    with lock as grant:
        program = Program("wait.py", server.url, server.name())
        assert program.line() == "waiting"
        if server.kind == "zookeeper":
            wait_until(lambda: server.contenders(server.name()) == 2, "it stands in the line")
        if isinstance(server, RedisBackend):
            channel = f"{{{server.name()}}}:released"
            wait_until(lambda: server.client.pubsub_numsub(channel)[0][1] == 1, "it listens")
        program.process.send_signal(signal.SIGINT)
        assert program.line() == "interrupted"
        if server.kind == "zookeeper":
            wait_until(lambda: server.contenders(server.name()) == 1, "it has left the line")
        assert grant.is_valid
    with lock.hold(timeout=LONG):
        pass
    assert program.finish() == 0


@pytest.mark.parametrize("after", range(1, 190, 6))
def test_an_interrupt_anywhere_leaves_no_lock(backend: Backend, connect: Connect, after: int) -> None:
    client = connect(backend.url)
    lock = client.lock(backend.name(), **options(backend, 10))
    with lock:
        pass
    with Interrupted(after), lock.hold() as grant:
        grant.extend()
    grant = None  # type: ignore[assignment]
    with connect(backend.url).lock(backend.name()).hold(timeout=LONG):
        pass
    with lock.hold(timeout=LONG):
        pass


def test_a_loss_notifies_every_thread(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name(), max_hold=0.1)
    grant = lock.acquire()
    assert grant is not None
    results: list[bool] = []
    threads = [threading.Thread(target=lambda: results.append(grant.lost.wait(LONG))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert results == [True] * 4
    with pytest.raises(fencepost.LockLost):
        grant.release()


def by_block(lock: fencepost.Lock) -> None:
    with lock:
        pass


def by_scope(lock: fencepost.Lock) -> None:
    with lock.hold(timeout=LONG):
        pass


def by_calls(lock: fencepost.Lock) -> None:
    grant = lock.acquire()
    assert grant is not None
    grant.release()


def by_block_that_extends(lock: fencepost.Lock) -> None:
    with lock as grant:
        grant.extend()


@pytest.mark.parametrize("use", [by_block, by_scope, by_calls, by_block_that_extends])
def test_an_interrupt_at_any_place_leaves_the_lock_free(
    backend: Backend, connect: Connect, use: Callable[[fencepost.Lock], None]
) -> None:
    """The interrupt is raised at every place in turn. A reply for which no caller waits, and the end of the
    lease, take longer than the other client waits.
    """
    ours, theirs = (connect(backend.url) for _ in range(2))
    use(ours.lock(backend.name("first")))
    for after in itertools.count(1):
        name = backend.name(f"place{after}")
        lock = ours.lock(name, answer_within=60, **options(backend, 120))
        with Interrupted(after) as places:
            use(lock)
        grant = theirs.lock(name).acquire(timeout=LONG)
        assert grant is not None, places
        grant.release()
        if not places:
            break
    assert after > 20


@pytest.mark.parametrize("use", [by_block, by_scope])
def test_a_kept_interrupt_keeps_no_lock(
    server: Backend, connect: Connect, use: Callable[[fencepost.Lock], None]
) -> None:
    """A shell keeps the last exception, and so the frames that refer to the grant."""
    ours, theirs = (connect(server.url) for _ in range(2))
    use(ours.lock(server.name("first")))
    for after in itertools.count(1):
        name = server.name(f"place{after}")
        lock = ours.lock(name, answer_within=60, **options(server, 120))
        kept: list[BaseException] = []
        with Interrupted(after, kept) as places:
            use(lock)
        grant = theirs.lock(name).acquire(timeout=LONG)
        assert grant is not None, places
        grant.release()
        if not places:
            break
        assert len(kept) == 1
    assert after > 20


def test_a_kept_interrupt_of_an_exit_keeps_no_lock(server: Backend, connect: Connect) -> None:
    """The interrupt may occur before the first line of ``__exit__``, while the program has the grant."""
    ours, theirs = (connect(server.url) for _ in range(2))
    for after in itertools.count(1):
        name = server.name(f"place{after}")
        grant = ours.lock(name, answer_within=60, **options(server, 120)).acquire()
        assert grant is not None
        kept: list[BaseException] = []
        with Interrupted(after, kept) as places:
            grant.__exit__(None, None, None)
        other = theirs.lock(name).acquire(timeout=LONG)
        assert other is not None, places
        other.release()
        if not places:
            break
        assert len(kept) == 1
    assert after > 10
