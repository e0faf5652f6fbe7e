"""Kazoo's own tests of its locks and semaphores, with kazoo's classes and with ours."""

from __future__ import annotations

import os
import sys
import threading
import unittest
import uuid
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from fencepost.compat import kazoo as ours
from kazoo.client import KazooClient
from kazoo.protocol.connection import _SESSION_EXPIRED
from kazoo.protocol.states import KazooState
from support import LONG

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        "FENCEPOST_SERVERS" not in os.environ, reason="needs `python3 tests/servers run -- CMD`"
    ),
    # The threads of kazoo's tests fail on purpose.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


class KazooTestCase(unittest.TestCase):
    """Replaces kazoo's class, which starts its own servers and needs OpenSSL for that."""

    _make: Any = KazooClient

    def setUp(self) -> None:
        self._above = KazooClient(os.environ["FENCEPOST_ZOOKEEPER"], timeout=15)
        self._above.start()
        self._root = f"/kazootests{uuid.uuid4().hex}"
        self._above.create(self._root)
        self.hosts = os.environ["FENCEPOST_ZOOKEEPER"] + self._root
        self._clients: list[Any] = []
        self.client = self._get_client()
        self.client.start()

    def tearDown(self) -> None:
        for client in self._clients:
            client.stop()
            client.close()
        self._above.delete(self._root, recursive=True)
        self._above.stop()
        self._above.close()

    def _get_client(self) -> Any:
        client = type(self)._make(self.hosts, timeout=6)
        self._clients.append(client)
        return client

    def expire_session(self, event_factory: Callable[[], threading.Event]) -> None:
        """Makes kazoo believe that the session has ended."""
        lost, back = event_factory(), event_factory()

        def listen(state: str) -> bool | None:
            if state == KazooState.LOST:
                lost.set()
            elif lost.is_set() and state == KazooState.CONNECTED:
                back.set()
                return True
            return None

        self.client.add_listener(listen)
        self.client._call(_SESSION_EXPIRED, None)
        assert lost.wait(LONG)
        assert back.wait(LONG)


def kazoos_own() -> tuple[Any, Any]:
    """The modules of kazoo's tests, with our test case."""
    stand_in = ModuleType("kazoo.testing")
    stand_in.KazooTestCase = KazooTestCase  # type: ignore[attr-defined]
    sys.modules["kazoo.testing"] = stand_in
    try:
        from kazoo.tests import test_election, test_lock
    finally:
        del sys.modules["kazoo.testing"]
    return test_lock, test_election


locks, elections = kazoos_own()


class Observed(threading.Condition):
    """A condition of which a waiter misses no state: the thread that notifies waits until each waiter has
    checked.

    Kazoo's test_lock waits for "no thread is active" while the next contender gets the lock. On a busy
    machine that contender is active before the test has checked, and both wait for ever.
    """

    def __init__(self) -> None:
        super().__init__(lock := threading.RLock())
        self._looked = threading.Condition(lock)
        self._asleep: set[object] = set()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is notified."""
        sleeper = object()
        self._asleep.add(sleeper)
        try:
            return super().wait(timeout)
        finally:
            self._asleep.discard(sleeper)
            self._looked.notify_all()

    def notify_all(self) -> None:
        """Wakes all waiters, and returns when each has checked the state and has released the condition."""
        asleep = set(self._asleep)
        super().notify_all()
        self._looked.wait_for(lambda: not asleep & self._asleep)


class LetsGo:
    """Ends the threads of a failed test. Otherwise kazoo's tearDown would wait for them for ever."""

    make_condition = staticmethod(Observed)

    def make_event(self) -> threading.Event:
        event = threading.Event()
        self.__dict__.setdefault("_events", []).append(event)
        return event

    def tearDown(self) -> None:
        for event in self.__dict__.get("_events", ()):
            event.set()
        super().tearDown()  # type: ignore[misc]


class TestKazoosLocks(LetsGo, locks.KazooLockTests):  # type: ignore[misc, name-defined]
    """With kazoo's classes."""


class TestKazoosSemaphores(LetsGo, locks.TestSemaphore):  # type: ignore[misc, name-defined]
    """With kazoo's classes."""


class TestKazoosElections(LetsGo, elections.KazooElectionTests):  # type: ignore[misc, name-defined]
    """With kazoo's classes."""


class TestOurLocks(LetsGo, locks.KazooLockTests):  # type: ignore[misc, name-defined]
    """With ours."""

    _make = ours.KazooClient

    def test_lock_ephemeral(self: Any) -> None:
        lock = self.client.Lock(self.lockpath, "ephemeral")
        with pytest.raises(NotImplementedError, match="ephemeral"):
            lock.acquire(ephemeral=False)
        assert lock.contenders() == []


class TestOurSemaphores(LetsGo, locks.TestSemaphore):  # type: ignore[misc, name-defined]
    """With ours."""

    _make = ours.KazooClient


class TestOurElections(LetsGo, elections.KazooElectionTests):  # type: ignore[misc, name-defined]
    """With ours."""

    _make = ours.KazooClient
