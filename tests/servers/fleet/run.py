"""One run: starts the servers, serves the control port, runs the command, and removes everything."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import sys
import threading
from collections.abc import Awaitable

from .control import control_port
from .fleet import Fleet, Settings
from .guest import run_guest
from .packages import MissingPackage
from .ports import NoPort, Ports
from .proxy.proxies import Proxies
from .server import ServerError
from .signals import Signals
from .verbs import Verbs
from .workspace import Workspace

FAILED = 125
NO_COMMAND = 127
DESCRIPTORS = 16384


def run(settings: Settings, command: list[str]) -> int:
    """Runs, and returns the exit code: the command's, or 125 if the servers did not start."""
    if command and shutil.which(command[0]) is None:
        return complain(f"no such command: {command[0]}", NO_COMMAND)
    try:
        settings.ensure()
        allow_descriptors()
        return asyncio.run(session(settings, command))
    except (MissingPackage, NoPort, ServerError) as error:
        return complain(str(error), FAILED)


async def session(settings: Settings, command: list[str]) -> int:
    """Starts everything, runs the command, and ends everything."""
    signals = Signals()
    ports = Ports()
    workspace = Workspace()
    fleet = Fleet(settings, ports, workspace.path)
    try:
        if not await finishes(fleet.start(), signals):
            return 128 + (signals.first or 0)
        async with control_port(ports.control, Verbs(fleet, Proxies(ports))):
            if command:
                return await run_guest(command, fleet.environment(), signals)
            print(json.dumps(fleet.environment()), flush=True)
            await finishes(end_of_input(), signals)
            return 0
    finally:
        await fleet.kill()
        workspace.remove()


async def finishes(work: Awaitable[None], signals: Signals) -> bool:
    """Whether `work` finishes before an ending signal; otherwise it is cancelled."""
    task = asyncio.ensure_future(work)
    signal = asyncio.ensure_future(signals.received.wait())
    await asyncio.wait({task, signal}, return_when=asyncio.FIRST_COMPLETED)
    signal.cancel()
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
        return False
    task.result()
    return True


async def end_of_input() -> None:
    """Returns when standard input ends. A thread reads it: asyncio cannot wait for all kinds of files."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def read() -> None:
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        try:
            loop.call_soon_threadsafe(ended.set)
        except RuntimeError:
            pass  # the run is over

    threading.Thread(target=read, daemon=True).start()
    await ended.wait()


def allow_descriptors() -> None:
    """Raises the limit of open files, because each connection through a proxy needs two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def complain(message: str, code: int) -> int:
    """Prints why the run failed, and returns the exit code for it."""
    print(f"tests/servers: {message}", file=sys.stderr)
    return code
