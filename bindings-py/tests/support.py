"""Helpers of the tests: the servers' control port, backends, and bounded waits."""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import fencepost
import redis
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

LONG = 90.0
#: Long enough for a busy server to reply that another client holds the lock, in seconds.
BRIEF = 2.0
#: A result that is not a text.
EVERY_BYTE = bytes(range(256))
#: A result of almost the largest size.
LONG_RESULT = EVERY_BYTE * 3906
#: Options of a scope that loses its claims soon.
SHORT: dict[str, Any] = {"lease": 0.1, "renew": False}
PROGRAMS = Path(__file__).parent / "programs"


def wait_until(condition: Callable[[], Any], what: str, within: float = LONG) -> Any:
    """Returns the first true value of `condition`. Fails if that takes too long."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.005)


async def wait_until_async(condition: Callable[[], Any], what: str) -> Any:
    """The same on a loop."""
    deadline = time.monotonic() + LONG
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited too long until {what}"
        await asyncio.sleep(0.005)


class Interrupted:
    """A block in which KeyboardInterrupt is raised once in this thread, and dropped after the block. It is
    raised at a call of, or return from, a function of the package, where Ctrl-C may occur. It is not raised
    in a finalizer, where Python itself drops the exception. Entering the block returns a list that later has
    the place, if there was one.

    ``kept`` is a list that gets the exception, as a shell keeps the last one. Then it is raised only at
    calls. At a return, the frame of ``_trace`` refers to the result; without this test, no frame would.
    """

    # A generator with @contextmanager would keep the exception until the next garbage collection: since
    # Python 3.12, a generator that catches it leaves a cycle of the exception, its own frame, and the frame
    # that has thrown the exception.

    def __init__(self, after: int, kept: list[BaseException] | None = None) -> None:
        self._after = after
        self._kept = kept
        self._events = ("call", "return") if kept is None else ("call",)
        self._count = 0
        self._places: list[str] = []
        self._package = str(Path(fencepost.__file__).parent)

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(self._package):
            return None
        if event in self._events and not in_finalizer(frame):
            self._count += 1
            if self._count == self._after:
                self._places.append(f"{event} {frame.f_code.co_name}")
                raise KeyboardInterrupt
        return self._trace

    def __enter__(self) -> list[str]:
        sys.settrace(self._trace)
        return self._places

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        sys.settrace(None)
        if not isinstance(error, KeyboardInterrupt):
            return False
        if self._kept is not None:
            self._kept.append(error)
        return True


@contextmanager
def logging_to(handler: logging.Handler) -> Iterator[None]:
    """Passes all records of the package to a handler."""
    logger = logging.getLogger("fencepost")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.setLevel(logging.NOTSET)
        logger.removeHandler(handler)


def in_finalizer(frame: FrameType | None) -> bool:
    """Whether a finalizer runs."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def sockets() -> int:
    """How many sockets this process has open."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:")
        except FileNotFoundError:  # Closed meanwhile.
            pass
    return count


class Control:
    """A connection to the control port of the test servers. Threads may share it."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=LONG)
        self._lines = self._socket.makefile("r")
        self._order = threading.Lock()

    def do(self, command: str) -> dict[str, Any]:
        """The reply to a command that must succeed."""
        with self._order:
            self._socket.sendall(command.encode() + b"\n")
            answer: dict[str, Any] = json.loads(self._lines.readline())
        assert answer["ok"], answer
        return answer

    def restore(self) -> None:
        """Starts or resumes all servers, and closes all proxies."""
        state = self.do("list")
        for server in state["servers"]:
            if server["state"] == "paused":
                self.do(f"resume {server['name']}")
            if server["state"] != "running":
                self.do(f"start {server['name']}")
        for proxy in state["proxies"]:
            self.do(f"proxy-close {proxy['id']}")

    def close(self) -> None:
        """Closes the connection."""
        self._lines.close()
        self._socket.close()


class Backend:
    """One kind of server, with names that no other test uses."""

    kind = "memory"
    server = ""
    lease = 60.0

    def __init__(self) -> None:
        self.prefix = f"t{uuid.uuid4().hex[:12]}"
        self.address = ""

    @property
    def url(self) -> str:
        """Its address, the same for all clients of the test."""
        return f"memory:{self.prefix}"

    def name(self, name: str = "stock/42") -> str:
        """A name for a lock."""
        return name

    def at(self, address: str) -> str:
        """The URL of the same locks through another address, a proxy for example."""
        raise NotImplementedError

    def delete(self, name: str) -> None:
        """Deletes the node or key of a holder, as an operator would."""
        raise NotImplementedError

    def contenders(self, name: str) -> int:
        """How many contenders the server knows."""
        raise NotImplementedError

    def clean(self) -> None:
        """Removes everything."""


class ZooKeeperBackend(Backend):
    """A ZooKeeper server."""

    kind = "zookeeper"
    server = "zookeeper"
    lease = 4.0

    def __init__(self) -> None:
        super().__init__()
        self.address = os.environ["FENCEPOST_ZOOKEEPER"]
        self.client = KazooClient(hosts=self.address, timeout=10)
        self.client.start()

    @property
    def url(self) -> str:
        return self.at(self.address)

    def at(self, address: str) -> str:
        return f"zk://{address}/{self.prefix}?session_timeout=4000"

    def directory(self, name: str) -> str:
        return f"/{self.prefix}/{name}"

    def children(self, name: str) -> list[str]:
        try:
            return sorted(self.client.get_children(self.directory(name)), key=lambda child: child[-10:])
        except NoNodeError:
            return []

    def delete(self, name: str) -> None:
        self.client.delete(f"{self.directory(name)}/{self.children(name)[0]}")

    def contenders(self, name: str) -> int:
        return len(self.children(name))

    def clean(self) -> None:
        self.client.stop()
        self.client.close()
        # The other client's session may have ended with the server.
        client = KazooClient(hosts=self.address, timeout=10)
        client.start()
        if client.exists(f"/{self.prefix}"):
            client.delete(f"/{self.prefix}", recursive=True)
        client.stop()
        client.close()


class RedisBackend(Backend):
    """A Redis server."""

    kind = "redis"
    server = "redis-1"
    lease = 4.0

    def __init__(self) -> None:
        super().__init__()
        self.address = os.environ["FENCEPOST_REDIS"]
        self.client = redis.Redis.from_url(self.url)

    @property
    def url(self) -> str:
        return self.at(self.address)

    def at(self, address: str) -> str:
        return f"redis://{address}/0"

    def name(self, name: str = "stock/42") -> str:
        return f"{self.prefix}/{name}"

    def delete(self, name: str) -> None:
        assert self.client.delete(name) == 1

    def contenders(self, name: str) -> int:
        return int(self.client.exists(name))

    def is_listened_to(self, name: str) -> bool:
        """Whether a waiter has subscribed to that lock's releases."""
        return any(name.encode() in channel for channel in self.client.pubsub_channels())

    def clean(self) -> None:
        keys = list(self.client.scan_iter(f"*{self.prefix}*"))
        if keys:
            self.client.delete(*keys)
        self.client.close()


BACKENDS: dict[str, type[Backend]] = {
    "memory": Backend,
    "zookeeper": ZooKeeperBackend,
    "redis": RedisBackend,
}


def options(backend: Backend, lease: float | None = None) -> dict[str, Any]:
    """Options for a lock with a short lease, where there is one."""
    return {"ttl": lease or backend.lease} if backend.kind == "redis" else {}


def with_session(url: str, milliseconds: int) -> str:
    """The same address with sessions of another length, where there are sessions."""
    return re.sub(r"session_timeout=\d+", f"session_timeout={milliseconds}", url)


def makers(client: Any, backend: Backend) -> list[Callable[[], object]]:
    """Functions that make a lock of each kind that the server supports, with either client."""
    name = backend.name()
    if backend.kind == "redis":
        return [lambda: client.lock(name)]
    return [
        lambda: client.lock(name),
        lambda: client.read_write_lock(name),
        lambda: client.semaphore(name, 1),
        lambda: client.election(name),
        lambda: client.multi_lock([name]),
    ]


def requests(control: Control, proxy: dict[str, Any], lock: fencepost.Lock) -> dict[str, int]:
    """The number of requests of five acquires and releases, by kind, after the lock was held once."""
    with lock:
        pass
    control.do(f"proxy-reset {proxy['id']}")
    for _ in range(5):
        with lock:
            pass
    by_kind: dict[str, int] = control.do(f"proxy-count {proxy['id']}")["by_kind"]
    return by_kind


def long_lease(backend: Backend) -> dict[str, Any]:
    """Options for a lock with a long lease whose holder soon repeats a request."""
    return {"ttl": 60, "answer_within": 0.2} if backend.kind == "redis" else {}


class Program:
    """A Python program in a separate process, which prints lines."""

    def __init__(self, program: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        """Its next line."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops it (SIGSTOP) and closes its input, which it notices when it continues."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        yield
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kills it with SIGKILL."""
        self.process.kill()
        self.process.communicate()

    def finish(self) -> int:
        """Closes its input and waits for its end."""
        self.process.communicate(timeout=LONG)
        return self.process.returncode


@cache
def package_alone() -> Path:
    """A folder in which Python finds fencepost, and none of the packages that are installed beside it."""
    folder = Path(tempfile.mkdtemp(prefix="fencepost-alone-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "fencepost").symlink_to(Path(fencepost.__file__).parent)
    return folder
