"""A reply that has arrived is handled before a late timer."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import fencepost.asyncio
from support import Backend, Control, Program, options, wait_until, with_session


async def test_a_loop_that_was_busy_for_longer_than_an_acquire_waits(server: Backend) -> None:
    async with fencepost.asyncio.connect(with_session(server.url, 60_000)) as client:
        lock = client.lock(server.name(), **options(server, 60))
        async with lock:
            pass
        for _ in range(5):
            acquire = asyncio.create_task(lock.acquire(timeout=0.2))
            await asyncio.sleep(0)
            # The reply arrives while the event loop does not run.
            wait_until(lambda: server.contenders(server.name()), "it was granted")
            time.sleep(0.3)
            grant = await acquire
            assert grant is not None
            await grant.release()


async def test_a_loop_that_was_busy_for_longer_than_a_release_waits(server: Backend) -> None:
    # The session must last longer than the loop is busy.
    async with fencepost.asyncio.connect(with_session(server.url, 60_000)) as client:
        lock = client.lock(server.name(), **options(server, 60))
        grant = await lock.acquire()
        assert grant is not None
        release = asyncio.create_task(grant.release())
        await asyncio.sleep(0)
        time.sleep(5.2)
        await release


#: The first requests of an acquire of a free lock.
ASKED = {"zookeeper": {"create", "getChildren2"}, "redis": {"EVALSHA"}}


#: How long the process waits for the lock, in seconds. The test must stop it before.
LIMIT = 3.0


def test_a_process_that_was_stopped(server: Backend, control: Control) -> None:
    proxy = control.do(f"proxy {server.server}")
    # A session that outlasts the stop.
    url = with_session(server.at(proxy["address"]), 60000)
    program = Program("late.py", url, server.name(), str(LIMIT))
    assert program.line() == "ready"
    control.do(f"proxy-reset {proxy['id']}")
    control.do(f"proxy-hold {proxy['id']}")
    assert program.process.stdin is not None
    program.process.stdin.write("go\n")
    program.process.stdin.flush()

    def asked() -> set[str]:
        return set(control.do(f"proxy-count {proxy['id']}")["by_kind"])

    wait_until(lambda: ASKED[server.kind] <= asked(), "it has asked")
    os.kill(program.process.pid, signal.SIGSTOP)
    control.do(f"proxy-pass {proxy['id']}")
    wait_until(lambda: server.contenders(server.name()), "it was granted")
    time.sleep(LIMIT + 0.3)
    os.kill(program.process.pid, signal.SIGCONT)
    assert program.line() == "granted"
    assert program.finish() == 0
