"""Exceptions of the program's signal handlers, such as the time limits of Celery and RQ: they reach the
program, and the client still works.
"""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import fencepost
import pytest
from fencepost._engine.signals import raised_by_program
from support import LONG, Backend, Control, wait_until


class JobTimeoutError(Exception):
    """An exception as of a framework. It belongs to no library."""


@contextmanager
def alarm(handler: Callable[..., Any], after: float = 0.3) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "connecting"])
@pytest.mark.parametrize("kind", [JobTimeoutError, TimeoutError, ConnectionError, RuntimeError, ValueError])
def test_the_exception_of_a_handler_reaches_the_program(
    server: Backend, control: Control, kind: type[Exception], connected: bool
) -> None:
    def handle(*_: object) -> None:
        raise kind("the job's time is up")

    with fencepost.connect(server.url) as client:
        if connected:
            with client.lock(server.name("warm")):
                pass
        control.do(f"pause {server.server}")
        try:
            # The signal may arrive before the acquire has begun.
            with pytest.raises(kind, match="the job's time is up"), alarm(handle):
                client.lock(server.name()).acquire(timeout=LONG)
        finally:
            control.do(f"resume {server.server}")
        with client.lock(server.name("next")).hold(timeout=LONG) as grant:
            assert grant.is_valid
        # The client deletes the node or key of the interrupted acquire.
        wait_until(lambda: server.contenders(server.name()) == 0, "the lock is free")


def raises(*_: object) -> None:
    """A handler."""
    raise TimeoutError


class Handler:
    """An object whose methods are handlers."""

    def method(self, *_: object) -> None:
        raise TimeoutError

    def __call__(self, *_: object) -> None:
        raise TimeoutError


@pytest.mark.parametrize(
    "handler",
    [raises, Handler().method, Handler(), functools.partial(raises, 1), lambda *_: raises()],
    ids=["function", "method", "object", "partial", "lambda"],
)
def test_any_handler_is_recognised(handler: Callable[..., Any]) -> None:
    def library() -> None:
        try:
            signal.raise_signal(signal.SIGALRM)
        except TimeoutError:
            raise OSError("no answer")  # noqa: B904  # as redis-py does

    with alarm(handler, LONG):
        with pytest.raises(OSError, match="no answer") as caught:
            library()
        assert isinstance(raised_by_program(caught.value), TimeoutError)
        with pytest.raises(OSError, match="another") as other:
            raise OSError("another")
        assert raised_by_program(other.value) is None
