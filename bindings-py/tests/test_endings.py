"""Clients and grants that end without a close: finalizers, signal handlers, the end of the interpreter."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
from conftest import Connect
from support import (
    LONG,
    PROGRAMS,
    Backend,
    Control,
    options,
    wait_until,
    with_session,
)

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


def run_program(python: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a Python of any version."""
    return subprocess.run(
        [python, "-W", "ignore", PROGRAMS / program, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGES))},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )


def test_a_thread_that_was_started_twice_ends(backend: Backend) -> None:
    """Ctrl-C may occur after the start of a thread, before the client has stored the thread."""
    before = set(threading.enumerate())
    client = fencepost.connect(backend.url)
    timer: Any = client._engine.timer
    timer._start()
    timer._start()
    client.close()
    wait_until(lambda: set(threading.enumerate()) <= before, "all threads have ended")


class Owner:
    """An object in a cycle, whose finalizer releases its lock."""

    def __init__(self, client: fencepost.Client, name: str) -> None:
        self.grant = client.lock(name).acquire(timeout=LONG)
        self.me = self

    def __del__(self) -> None:
        assert self.grant is not None
        try:
            self.grant.release()
        except (fencepost.MisuseError, fencepost.LockLost):
            pass  # It was released before, or the session has ended on a busy machine.


def test_a_finalizer_releases_anywhere(backend: Backend, connect: Connect) -> None:
    """The garbage collector runs at any moment, also inside a call of the client."""
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
    """The calls of a finalizer or a signal handler inside a critical section."""
    client, other = connect("memory:a"), connect("memory:a")
    grant, theirs = client.lock("a").acquire(), other.lock("a")
    assert grant is not None
    with client._engine.order:
        grant.release()
        assert not grant.is_valid
        with pytest.raises(fencepost.MisuseError) as error:
            grant.release()
        assert error.value.name == "not-held"
        with pytest.raises(fencepost.MisuseError) as error:
            theirs.acquire()
        assert (error.value.code, error.value.name) == (543, "cannot-wait")
    with theirs.hold(timeout=LONG):
        assert not grant.is_valid
        assert not grant.lost.is_set()
        with pytest.raises(fencepost.MisuseError) as error:
            grant.release()
        assert error.value.name == "not-held"
    assert repr(grant) == f"<Grant of 'a', released, fence {grant.fence}>"


def test_a_queued_release_wakes_the_waiter_for_the_grant(connect: Connect) -> None:
    client = connect("memory:")
    grant = client.lock("a").acquire()
    assert grant is not None
    results: list[bool] = []
    waiter = threading.Thread(target=lambda: results.append(grant.wait_revoke_requested()))
    waiter.start()
    wait_until(lambda: grant._contender.waiters, "it waits")
    with client._engine.order:
        grant.release()
    waiter.join(LONG)
    assert results == [False]


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize("what", ["close", "release", "drop", "asyncio", "finalizer", "section"])
def test_the_end_of_the_interpreter(backend: Backend, python: str, what: str) -> None:
    """Functions of `atexit` close and release, on every version of Python. After them, a call works if it
    needs no other thread. If it needs one, or the critical section of one, it is refused.
    """
    ended = run_program(python, "at_exit.py", backend.url, backend.name(), what)
    refused = what == "section" or (what == "finalizer" and backend.kind == "zookeeper")
    assert (ended.returncode, ended.stdout) == (0, "done\n")
    if refused:
        assert ended.stderr.count("this call cannot wait: the interpreter is shutting down") == 2
    else:
        assert ended.stderr == ""
    if what != "drop" and not refused and backend.kind != "memory":
        with fencepost.connect(backend.url) as client, client.lock(backend.name()).hold(blocking=False):
            pass


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize("where", ["atexit", "finalizer"])
def test_the_first_acquire_at_the_end_of_the_interpreter(
    server: Backend, connect: Connect, python: str, where: str
) -> None:
    """It ends. Python 3.12 starts no thread in functions of `atexit`, and no version in later finalizers."""
    with connect(server.url).lock(server.name(), **options(server, 60)):
        ended = run_program(python, "acquire_at_exit.py", server.url, server.name(), where)
    assert (ended.returncode, ended.stderr) == (0, "")
    outcomes = {"cannot-wait"} if where == "finalizer" else {"cannot-wait", "held"}
    assert ended.stdout.strip() in outcomes


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize("kind", ["lock", "hold", "grant"])
def test_a_thread_that_leaves_a_block_when_the_interpreter_ends(
    server: Backend, control: Control, python: str, kind: str
) -> None:
    """Python before 3.14 unwinds the thread's stack. The reply to the release arrives after the interpreter
    has stopped its threads.
    """
    proxy = control.do(f"proxy {server.server}")
    control.do(f"proxy-slow {proxy['id']} 500")
    # A short session would end on a slow machine.
    url = with_session(server.at(proxy["address"]), 20_000)
    ended = run_program(python, "end_in_exit.py", url, server.name(), kind)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\nlate\n", "")
