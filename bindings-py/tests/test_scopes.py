"""Blocks: each ends the grant that it has opened, in any order and thread."""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import threading
import unittest
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fencepost
import pytest
from conftest import Connect
from support import LONG, Backend, Program, wait_until


@pytest.fixture
def client(connect: Connect) -> fencepost.Client:
    return connect("memory:")


def in_thread(call: Callable[[], Any]) -> Any:
    """Returns or raises the outcome of a call in a thread that ends after it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(LONG)


def states(*grants: fencepost.Grant) -> list[bool]:
    """Which of the grants are held."""
    return [grant.is_valid for grant in grants]


def test_stacks_end_in_any_order(client: fencepost.Client) -> None:
    semaphore = client.semaphore("presses", 3)
    stacks = [contextlib.ExitStack() for _ in range(3)]
    grants = [stack.enter_context(semaphore) for stack in stacks]
    stacks[0].close()
    assert states(*grants) == [False, True, True]
    stacks[2].close()
    assert states(*grants) == [False, True, False]
    stacks[1].close()
    assert states(*grants) == [False, False, False]


def test_generators_end_in_any_order(client: fencepost.Client) -> None:
    reader = client.read_write_lock("prices").reader

    def stream() -> Generator[fencepost.Grant, None, None]:
        with reader as grant:
            yield grant

    streams = [stream() for _ in range(3)]
    grants = [next(each) for each in streams]
    streams[1].close()
    assert states(*grants) == [True, False, True]
    in_thread(streams[0].close)
    assert states(*grants) == [False, False, True]
    streams[2].close()
    assert states(*grants) == [False, False, False]


def test_blocks_of_one_thread_nest(client: fencepost.Client) -> None:
    semaphore = client.semaphore("presses", 2)
    with semaphore as outer:
        with semaphore as inner:
            assert states(outer, inner) == [True, True]
        assert states(outer, inner) == [True, False]
    assert not outer.is_valid


def test_a_block_ends_in_another_thread(backend: Backend, connect: Connect) -> None:
    """As in a synchronous dependency of FastAPI, one worker thread enters the block, and another one leaves
    it.
    """
    lock, other = (connect(backend.url).lock(backend.name()) for _ in range(2))

    def dependency() -> Generator[fencepost.Grant, None, None]:
        with lock as grant:
            yield grant

    running = dependency()
    grant = in_thread(lambda: next(running))
    assert grant.is_valid
    in_thread(running.close)
    assert not grant.is_valid
    with other.hold(timeout=LONG):
        pass


def test_requests_end_on_each_other_s_threads(client: fencepost.Client) -> None:
    semaphore = client.semaphore("presses", 2)

    def dependency() -> Generator[fencepost.Grant, None, None]:
        with semaphore as grant:
            yield grant

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two:
        first, second = dependency(), dependency()
        grants = [one.submit(next, first).result(LONG), two.submit(next, second).result(LONG)]
        two.submit(first.close).result(LONG)
        assert states(*grants) == [False, True]
        one.submit(second.close).result(LONG)
        assert states(*grants) == [False, False]


def test_unittest_enters_and_leaves(client: fencepost.Client) -> None:
    lock = client.lock("a")
    if not hasattr(unittest.TestCase, "enterContext"):  # New in Python 3.11.
        return
    case: Any = unittest.TestCase()
    grant = case.enterContext(lock)
    assert grant.is_valid
    case.doCleanups()
    assert not grant.is_valid


def test_a_subclass_may_wrap_its_ends(client: fencepost.Client) -> None:
    class Told(fencepost.Lock):
        steps: list[str] = []  # noqa: RUF012

        def __enter__(self) -> fencepost.Grant:
            grant = super().__enter__()
            self.steps.append("entered")
            return grant

        def __exit__(self, *error: Any) -> None:
            super().__exit__(*error)
            self.steps.append("left")

    lock = client._lock(Told, "lock", "a", {})
    for _ in range(2):
        with lock as grant:
            assert grant.is_valid
        assert not grant.is_valid
    assert lock.steps == ["entered", "left"] * 2


def test_calls_by_hand(client: fencepost.Client) -> None:
    """A class that enters in one method and leaves in another, here in another thread, too."""
    lock = client.lock("a")
    grant = lock.__enter__()
    in_thread(lambda: lock.__exit__(None, None, None))
    assert not grant.is_valid
    with pytest.raises(fencepost.MisuseError) as error:
        lock.__exit__(None, None, None)
    assert error.value.name == "not-held"
    assert hasattr(lock, "__exit__")
    assert lock.__enter__().is_valid
    lock.__exit__(None, None, None)
    with lock.hold(blocking=False):
        pass


def test_an_exit_by_hand_in_another_block_s_thread_releases_none(client: fencepost.Client) -> None:
    """A framework enters and leaves the blocks of several requests in any of its threads."""
    semaphore = client.semaphore("presses", 2)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two:
        grants = [pool.submit(semaphore.__enter__).result(LONG) for pool in (one, two)]
        # The first request ends in the second one's thread, and the second one's body still runs.
        ended = two.submit(semaphore.__exit__, None, None, None)
        with pytest.raises(fencepost.MisuseError, match=re.escape("hold()")) as error:
            ended.result(LONG)
        assert error.value.name == "ambiguous-scope"
        assert states(*grants) == [True, True]
        two.submit(semaphore.__exit__, None, None, None).result(LONG)
        assert states(*grants) == [False, False]


def test_an_exit_that_could_mean_several_releases_none(client: fencepost.Client) -> None:
    semaphore = client.semaphore("presses", 2)
    grants = [semaphore.__enter__() for _ in range(2)]
    with pytest.raises(fencepost.MisuseError, match=re.escape("hold()")) as error:
        semaphore.__exit__(None, None, None)
    assert (error.value.code, error.value.name) == (541, "ambiguous-scope")
    assert states(*grants) == [True, True]
    # There are as many exits as blocks: the program has left all of them, and no lock stays held.
    semaphore.__exit__(None, None, None)
    assert states(*grants) == [False, False]
    with semaphore, semaphore:
        pass


def test_scopes_of_one_owner_are_alike(client: fencepost.Client) -> None:
    lock = client.lock("a", owner="request-17")
    grants = [lock.__enter__() for _ in range(3)]
    for held in (2, 1, 0):
        lock.__exit__(None, None, None)
        assert sum(states(*grants)) == held


def test_a_scope_is_for_one_block_at_a_time(client: fencepost.Client) -> None:
    semaphore = client.semaphore("presses", 2)
    guard = semaphore.hold(timeout=LONG)
    with guard as grant:
        with pytest.raises(fencepost.MisuseError, match=re.escape("hold()")) as error, guard:
            pytest.fail("entered twice")
        assert error.value.name == "busy"
        assert in_thread(lambda: error_of(guard.__enter__)) == "busy"
        assert grant.is_valid
    assert not grant.is_valid
    with guard as grant:
        assert grant.is_valid


def test_a_scope_that_waits_is_not_entered_again(client: fencepost.Client) -> None:
    lock = client.lock("a")
    guard = lock.hold()
    with ThreadPoolExecutor(1) as pool, lock:
        waiting = pool.submit(guard.__enter__)
        wait_until(lambda: len(lock.contenders()) == 2, "it waits")
        assert error_of(guard.__enter__) == "busy"
    assert waiting.result(LONG).is_valid
    guard.__exit__(None, None, None)


def test_a_scope_that_got_nothing_may_be_entered_again(client: fencepost.Client) -> None:
    lock = client.lock("a")
    guard = lock.hold(blocking=False)
    with lock, pytest.raises(fencepost.NotAcquired), guard:
        pytest.fail("entered")
    with guard as grant:
        assert grant.is_valid


def test_what_is_once_is_not_copied(client: fencepost.Client) -> None:
    lock = client.lock("a")
    grant = lock.acquire()
    assert grant is not None
    pair = client.read_write_lock("b")
    for original in (client, lock, lock.hold(), grant, pair):
        for how in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                how(original)
    assert grant.is_valid
    assert not client.closed


@pytest.mark.parametrize("how", ["threads", "client", "asyncio"])
def test_a_child_of_a_block_that_exits(backend: Backend, how: str) -> None:
    program = Program("fork_in_block.py", backend.url, backend.name(), how)
    assert [program.line() for _ in range(2)] == ["child 3", "valid"]
    assert program.finish() == 0


def test_locks_take_weak_references(client: fencepost.Client) -> None:
    lock = client.lock("a")
    by_name = weakref.WeakValueDictionary({"a": lock})
    assert by_name["a"] is lock
    assert all(weakref.ref(each) for each in (lock.hold(), client.read_write_lock("b"), client))


def test_names_of_the_package(client: fencepost.Client) -> None:
    assert isinstance(client.lock("a").hold(), fencepost.Scope)
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", fencepost.__version__)


def error_of(call: Callable[[], object]) -> str:
    """The name of the error that a call raises."""
    try:
        call()
    except fencepost.FencepostError as error:
        return error.name
    return "none"


def test_threads_do_not_hear_of_each_other(client: fencepost.Client) -> None:
    semaphore = client.semaphore("presses", 3)
    inside: list[int] = []
    most = 0
    counting = threading.Lock()

    def work() -> None:
        nonlocal most
        for _ in range(50):
            with semaphore:
                with counting:
                    inside.append(1)
                    most = max(most, len(inside))
                with counting:
                    inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert most <= 3
    assert not semaphore.contenders()
