"""Exceptions that a program throws into a thread or a greenlet, as time limits without a signal do: they
reach the program, and the client still works.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable

import pytest
from conftest import Connect
from fencepost._engine.signals import raised_by_program
from redis.exceptions import ConnectionError as RedisConnectionError
from support import LONG, Backend, Control, RedisBackend, wait_until


class JobTimeoutError(Exception):
    """An exception as of a framework. It belongs to no library."""


class Worker:
    """A thread that works until an exception ends it."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.error: BaseException | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            # Its frames would keep a grant that only a finalizer can release.
            self.error = error.with_traceback(None)

    def reads(self) -> bool:
        """Whether it waits for a reply of Redis."""
        frame = sys._current_frames()[self._thread.ident or 0]
        return "recv" in frame.f_code.co_names or "recv_into" in frame.f_code.co_names

    def throw(self) -> None:
        """Throws an exception into it."""
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(JobTimeoutError))

    def join(self, within: float = LONG) -> bool:
        """Waits for its end. Returns False if the time is up."""
        self._thread.join(within)
        return not self._thread.is_alive()


def test_it_reaches_a_thread_that_waits_for_an_answer(
    redis_server: RedisBackend, control: Control, connect: Connect
) -> None:
    client = connect(redis_server.url)
    with client.lock(redis_server.name("warm")):
        pass
    control.do("pause redis-1")
    worker = Worker(client.lock(redis_server.name()).acquire)
    wait_until(worker.reads, "it has sent its request")
    worker.throw()
    control.do("resume redis-1")  # The interpreter throws it when the thread returns from the system call.
    assert worker.join()
    assert isinstance(worker.error, JobTimeoutError)
    wait_until(lambda: redis_server.contenders(redis_server.name()) == 0, "the lock is free")
    with client.lock(redis_server.name()).hold(timeout=LONG) as grant:
        assert grant.is_valid


def test_it_reaches_a_thread_at_any_moment(backend: Backend, connect: Connect) -> None:
    lock = connect(backend.url).lock(backend.name())
    turns = 0

    def work() -> None:
        nonlocal turns
        while True:
            with lock as grant:
                turns += 1
                grant.extend()

    for _ in range(60):
        before = turns
        worker = Worker(work)
        wait_until(lambda before=before: turns > before, "it works")  # type: ignore[misc]
        worker.throw()
        # Python drops an exception that is raised in a finalizer.
        while not worker.join(within=5):
            worker.throw()
        assert isinstance(worker.error, JobTimeoutError), worker.error
    with lock.hold(timeout=LONG) as grant:
        assert grant.is_valid


def provider() -> None:
    """Stands for code of the program that a library calls."""
    raise JobTimeoutError


def test_which_exceptions_are_thrown() -> None:
    thrown = JobTimeoutError()
    assert raised_by_program(thrown) is thrown
    wrapped = RedisConnectionError("no answer")
    wrapped.__context__ = thrown
    assert raised_by_program(wrapped) is thrown
    for error in (RedisConnectionError("lost"), OSError("lost"), TimeoutError()):
        assert raised_by_program(error) is None
    with pytest.raises(JobTimeoutError) as caught:
        provider()
    assert raised_by_program(caught.value) is None
