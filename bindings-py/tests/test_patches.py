"""gevent and eventlet replace Python's threads and locks when they patch the standard library. A server such
as gunicorn may import the program first and patch afterwards.
"""

from __future__ import annotations

import _thread
import threading
from typing import Any

import fencepost
import pytest
from conftest import Connect
from fencepost._engine.reentrancy import may_wait, serve
from support import BRIEF, LONG, Backend


class Patch:
    """The effect of gevent.monkey.patch_all() on locks and on thread-local data."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.locks = 0
        allocate_lock = _thread.allocate_lock

        def counted() -> Any:
            self.locks += 1
            return allocate_lock()

        counted.__module__ = "gevent.thread"
        monkeypatch.setattr(_thread, "allocate_lock", counted)
        monkeypatch.setattr(threading, "local", type("local", (threading.local,), {}))


def test_a_client_waits_with_the_locks_of_the_patch(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = Patch(monkeypatch)
    with fencepost.connect(backend.url) as client:
        lock = client.lock(backend.name())
        with lock:
            before = patch.locks
            assert lock.acquire(timeout=BRIEF) is None
        assert patch.locks > before


def test_the_patch_separates_what_was_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """One greenlet reads replies. Other greenlets of its thread may wait."""
    found: list[bool] = []

    def run() -> None:
        serve()
        found.append(may_wait())
        Patch(monkeypatch)
        found.append(may_wait())
        serve()
        found.append(may_wait())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(LONG)
    assert found == [False, True, False]


def test_a_client_that_is_older_than_the_patch(
    backend: Backend, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect(backend.url)
    lock = client.lock(backend.name())
    with lock as grant:
        with monkeypatch.context() as patches:
            Patch(patches)
            for call in (lock.acquire, grant.extend, grant.release, client.close):
                with pytest.raises(fencepost.MisuseError, match="before gevent patched") as caught:
                    call()
                assert caught.value.name == "cannot-wait"
        assert grant.is_valid
