"""What ends a client or a grant: closing, an interrupted close, finalizers, the end of the interpreter."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import weakref
from importlib.util import find_spec
from pathlib import Path

import fencepost
import fencepost.asyncio
import pytest
import redis
from conftest import AsyncConnect, Connect
from support import LONG, PROGRAMS, Backend, Control, interrupted, options, wait_until

PACKAGES = [Path(package.__file__ or "").parent.parent for package in (fencepost, redis)]


def interpreters() -> list[str]:
    """A Python of each version that this machine has and the package supports. On 3.10 redis-py needs
    async-timeout.
    """
    oldest = 10 if find_spec("async_timeout") else 11
    found = {f"3.{sys.version_info.minor}": sys.executable}
    for installed in sorted(
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob("3.*")
    ):
        version = ".".join(installed.name.split(".")[:2])
        if int(version.partition(".")[2]) >= oldest:
            found.setdefault(version, str(installed / "bin" / "python"))
    return [found[version] for version in sorted(found)]


def test_closing_ends_grants_aloud(backend: Backend, connect: Connect) -> None:
    ours, theirs = (connect(backend.url) for _ in range(2))
    lock = ours.lock(backend.name())
    inside, closed = threading.Event(), threading.Event()
    heard: list[object] = []

    def work() -> None:
        try:
            with lock as grant:
                lost = grant.lost
                inside.set()
                assert lost.wait(LONG)
                heard.append(grant.is_valid)
                closed.wait(LONG)
                # One that is asked for only now is set, too.
                heard.append(grant.lost.is_set())
        except fencepost.LockLost as error:
            heard.append(error.name)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(LONG)
    ours.close()
    closed.set()
    thread.join(LONG)
    assert heard == [False, True, "lost-connection-closed"]
    with theirs.lock(backend.name()).hold(timeout=LONG):
        pass


def test_a_block_that_closes_its_client_loses_its_lock(connect: Connect) -> None:
    client = connect("memory:")
    with pytest.raises(fencepost.LockLost, match="client was closed"), client.lock("a"):
        client.close()
    with pytest.raises(KeyError) as error, connect("memory:") as other, other.lock("a"):
        other.close()
        raise KeyError("mine")
    assert "lost" in "".join(getattr(error.value, "__notes__", ["lost"]))


async def test_closing_cancels_the_blocks_of_tasks(backend: Backend, aconnect: AsyncConnect) -> None:
    ours, theirs = (aconnect(backend.url) for _ in range(2))
    inside = asyncio.Event()

    async def work() -> None:
        async with ours.lock(backend.name()):
            inside.set()
            await asyncio.sleep(LONG)

    task = asyncio.create_task(work())
    await inside.wait()
    await ours.close()
    with pytest.raises(fencepost.LockLost) as error:
        await task
    assert error.value.name == "lost-connection-closed"
    async with theirs.lock(backend.name()).hold(timeout=LONG):
        pass


async def test_a_task_closes_its_own_client(backend: Backend, aconnect: AsyncConnect) -> None:
    client = aconnect(backend.url)
    ended = False
    with pytest.raises(fencepost.LockLost):
        async with client.lock(backend.name()) as grant:
            await client.close()
            assert grant.lost.is_set()
            ended = True
    assert ended
    task = asyncio.current_task()
    assert getattr(task, "cancelling", lambda: 0)() == 0


@pytest.mark.parametrize("again", [True, False])
def test_an_interrupted_close_is_finished(server: Backend, connect: Connect, again: bool) -> None:
    """By the second close, or else in the background. At every place in turn."""
    other = connect(server.url)
    with other.lock(server.name("first"), **options(server, 60)):
        before = set(threading.enumerate())
    for after in itertools.count(1):
        client = fencepost.connect(server.url)
        name = server.name(f"place{after}")
        grant = client.lock(name, **options(server, 60)).acquire(timeout=LONG)
        with interrupted(after) as places:
            client.close()
        if again or not client.closed:
            client.close()
        held = other.lock(name).acquire(timeout=LONG)
        assert held is not None, places
        held.release()
        del client, grant
        if not places:
            break
    wait_until(lambda: set(threading.enumerate()) <= before, "its threads have ended")


def test_a_close_that_waits_is_interrupted(server: Backend, control: Control) -> None:
    before = set(threading.enumerate())
    client = fencepost.connect(server.url)
    grant = client.lock(server.name()).acquire(timeout=LONG)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    control.do(f"pause {server.server}")
    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            client.close()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert grant is not None
    assert grant.lost.is_set()
    control.do(f"resume {server.server}")
    client.close()
    wait_until(lambda: set(threading.enumerate()) <= before, "its threads have ended")


class Owner:
    """An object in a cycle, whose finalizer gives its lock back."""

    def __init__(self, client: fencepost.Client, name: str) -> None:
        self.grant = client.lock(name).acquire(timeout=LONG)
        self.me = self

    def __del__(self) -> None:
        assert self.grant is not None
        try:
            self.grant.release()
        except fencepost.MisuseError:
            pass


def test_a_finalizer_releases_anywhere(backend: Backend, connect: Connect) -> None:
    """The collector comes at any moment, also while the client is at work."""
    client = connect(backend.url)
    rounds = 1500 if backend.kind == "memory" else 150
    names = [backend.name(f"{thread}-{n}") for thread in range(2) for n in range(rounds)]
    before = gc.get_threshold()
    gc.set_threshold(5, 2, 2)
    try:
        threads = [
            threading.Thread(target=lambda half=half: [Owner(client, name) for name in half])
            for half in (names[:rounds], names[rounds:])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        assert not any(thread.is_alive() for thread in threads)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    other = connect(backend.url)
    for name in names[:: rounds // 10]:
        with other.lock(name).hold(timeout=LONG):
            pass


def test_inside_of_the_client_nothing_waits(connect: Connect) -> None:
    """What a finalizer or a signal handler does in the middle of a critical section."""
    client, other = connect("memory:a"), connect("memory:a")
    lock, theirs = client.lock("a"), other.lock("a")
    grant, second = lock.acquire(), client.lock("b").acquire()
    assert grant is not None
    assert second is not None
    with client._engine.order:
        grant.release()
        with pytest.raises(fencepost.MisuseError) as error:
            theirs.acquire()
        assert (error.value.code, error.value.name) == (543, "cannot-wait")
    with theirs.hold(timeout=LONG):
        pass
    with client._engine.order:
        client.close()
    assert second.lost.wait(LONG)
    with other.lock("b").hold(timeout=LONG):
        pass


class Local:
    """A local variable of a caller."""


def test_a_failure_keeps_no_frames(connect: Connect) -> None:
    client = connect("redis://127.0.0.1:1")
    kept: list[weakref.ref[Local]] = []

    def handler(name: str) -> None:
        local = Local()
        kept.append(weakref.ref(local))
        mine = KeyError(name)
        try:
            raise mine
        except KeyError:
            with pytest.raises(fencepost.Refused) as refused:
                client.lock(name).acquire(timeout=0.3)
        assert refused.value.__cause__ is not None
        assert mine.__traceback__ is not None

    for n in range(5):
        handler(f"x{n}")
    gc.collect()
    assert [each for each in kept if each() is not None] == []


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize("what", ["close", "release", "drop", "asyncio"])
def test_the_end_of_the_interpreter(backend: Backend, python: str, what: str) -> None:
    """Functions of `atexit` close and release, on every Python that there is."""
    ended = subprocess.run(
        [python, "-W", "ignore", PROGRAMS / "at_exit.py", backend.url, backend.name(), what],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGES))},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")
    if what != "drop" and backend.kind != "memory":
        with fencepost.connect(backend.url) as client, client.lock(backend.name()).hold(blocking=False):
            pass
