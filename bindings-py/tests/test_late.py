"""An answer that has arrived beats a timer that is late."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import fencepost.asyncio
import pytest
from support import LONG, Backend, Control, Program, RedisBackend, options, wait_until


async def test_a_loop_that_was_busy_for_longer_than_an_acquire_waits(server: Backend) -> None:
    async with fencepost.asyncio.connect(server.url) as client:
        lock = client.lock(server.name(), **options(server, 60))
        async with lock:
            pass
        for _ in range(5):
            acquire = asyncio.create_task(lock.acquire(timeout=0.2))
            await asyncio.sleep(0)
            # The answer comes meanwhile, and nobody looks.
            time.sleep(0.3)
            grant = await acquire
            assert grant is not None
            await grant.release()


async def test_a_loop_that_was_busy_for_longer_than_a_release_waits(server: Backend) -> None:
    async with fencepost.asyncio.connect(server.url) as client:
        # The session must last longer than the loop is busy.
        lock = client.lock(server.name(), **options(server, 60))
        grant = await lock.acquire()
        assert grant is not None
        release = asyncio.create_task(grant.release())
        await asyncio.sleep(0)
        time.sleep(5.2)
        await release


@pytest.mark.parametrize("patience", ["0.5"])
def test_a_process_that_was_stopped(redis_server: RedisBackend, control: Control, patience: str) -> None:
    proxy = control.do("proxy redis-1")
    program = Program("late.py", redis_server.at(proxy["address"]), redis_server.name(), patience)
    assert program.line() == "ready"
    control.do(f"proxy-reset {proxy['id']}")
    control.do(f"proxy-hold {proxy['id']}")
    assert program.process.stdin is not None
    program.process.stdin.write("go\n")
    program.process.stdin.flush()
    wait_until(lambda: control.do(f"proxy-count {proxy['id']}")["total"] == 1, "it has asked")
    os.kill(program.process.pid, signal.SIGSTOP)
    control.do(f"proxy-pass {proxy['id']}")
    wait_until(lambda: redis_server.contenders(redis_server.name()), "it was granted")
    time.sleep(2 * float(patience))
    os.kill(program.process.pid, signal.SIGCONT)
    assert program.line() == "granted"
    assert program.finish() == 0
    assert LONG
