"""Python cannot start a thread: the process has too many, or ends. Calls that need one fail at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import fencepost
import pytest
from conftest import Connect
from support import LONG, Backend, RedisBackend, options

Refuse = Callable[[str], None]
TEXT = "can't start new thread"


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """From now on, Python starts no thread of this name. Without a name, it starts all threads."""
    start = threading.Thread.start

    def refuse(name: str) -> None:
        def start_others(thread: threading.Thread) -> None:
            if name and thread.name == name:
                raise RuntimeError(TEXT)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_others)

    return refuse


@pytest.mark.parametrize("is_held", [True, False])
def test_an_acquire_without_a_timer(
    backend: Backend, connect: Connect, refuse: Refuse, is_held: bool
) -> None:
    """No tick would end the acquire at its time, or renew the lease."""
    holder: Any = connect(backend.url).lock(backend.name(), **options(backend, 60)).acquire(timeout=LONG)
    if not is_held:
        holder.release()
    refuse("fencepost timer")
    client = connect(backend.url)
    with pytest.raises(fencepost.MisuseError, match=f"this call cannot wait: .*{TEXT}") as error:
        client.lock(backend.name()).acquire(timeout=1)
    assert error.value.name == "cannot-wait"
    refuse("")
    if is_held:
        assert client.lock(backend.name()).acquire(timeout=0.1) is None
        holder.release()
    grant = client.lock(backend.name(), max_hold=0.2).acquire(timeout=LONG)
    assert grant is not None
    assert grant.lost.wait(LONG)


def test_an_acquire_without_the_background(
    redis_server: RedisBackend, connect: Connect, refuse: Refuse
) -> None:
    """No thread would renew the lease."""
    lock = connect(redis_server.url).lock(redis_server.name())
    refuse("fencepost redis")
    with pytest.raises(fencepost.Refused, match=TEXT) as error:
        lock.acquire(timeout=0.3)
    assert error.value.name == "unreachable"
    assert redis_server.contenders(redis_server.name()) == 0
    refuse("")
    with lock.hold(timeout=LONG) as grant:
        assert grant.is_valid


def test_a_close_without_a_timer(backend: Backend, connect: Connect, refuse: Refuse) -> None:
    refuse("fencepost timer")
    client = connect(backend.url)
    with pytest.raises(fencepost.MisuseError):
        client.lock(backend.name()).acquire()
    client.close()
