"""The life of one server process of any kind."""

from __future__ import annotations

import asyncio
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from .child import dies_with_us
from .ports import HOST

READY_SECONDS = 60.0
STOP_SECONDS = 30.0
POLL_SECONDS = 0.02

RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"


class ServerError(Exception):
    """A server cannot run the command."""


class Server(ABC):
    """A server with a fixed port and data directory, whose process can be started and ended again."""

    kind: str

    def __init__(self, name: str, port: int, directory: Path) -> None:
        self.name = name
        self.port = port
        self.directory = directory
        self.busy = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._paused = False

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def state(self) -> str:
        if self._process is None or self._process.returncode is not None:
            return STOPPED
        return PAUSED if self._paused else RUNNING

    @property
    def pid(self) -> int | None:
        """The process id, unless stopped."""
        return None if self._process is None or self.state == STOPPED else self._process.pid

    @abstractmethod
    def prepare(self) -> None:
        """Writes the configuration into the (existing, empty) directory; once."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command line."""

    @abstractmethod
    async def answers(self) -> bool:
        """Whether the server is ready now."""

    async def launch(self) -> None:
        """Starts the process without waiting until it is ready. Does nothing if it runs."""
        if self.state == PAUSED:
            raise ServerError(f"{self.name} is paused; resume it first")
        if self.state == RUNNING:
            return
        self._paused = False
        with open(self.directory / "log", "ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command(),
                cwd=self.directory,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=self._prepare_child(),
            )

    async def wait_ready(self) -> None:
        """Returns when the server is ready. Fails if it ends before, or takes too long."""
        deadline = asyncio.get_running_loop().time() + READY_SECONDS
        while not await self.answers():
            if self.state == STOPPED:
                raise ServerError(f"{self.name} ended while starting:\n{self.log_tail()}")
            if asyncio.get_running_loop().time() > deadline:
                raise ServerError(f"{self.name} is not ready after {READY_SECONDS:.0f} s:\n{self.log_tail()}")
            await asyncio.sleep(POLL_SECONDS)

    async def start(self) -> None:
        """Starts the process and waits until it is ready."""
        await self.launch()
        await self.wait_ready()

    async def kill(self) -> None:
        """Sends SIGKILL, and waits for the end."""
        self._signal(signal.SIGKILL)
        await self._ended()

    async def stop(self) -> None:
        """Sends SIGTERM, and waits for the end. Resumes a paused server first."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        try:
            await asyncio.wait_for(self._ended(), STOP_SECONDS)
        except asyncio.TimeoutError:
            raise ServerError(f"{self.name} did not end within {STOP_SECONDS:.0f} s of SIGTERM") from None

    async def restart(self) -> None:
        """Stops, and starts again."""
        await self.stop()
        await self.start()

    async def pause(self) -> None:
        """Sends SIGSTOP, and waits for its effect. The server keeps its connections, but does nothing."""
        self._require_process()
        self._signal(signal.SIGSTOP)
        self._paused = True
        # The kernel stops the threads one after the other: until then, the server may still reply.
        while (pid := self.pid) is not None and not all(stand_still(pid)):
            await asyncio.sleep(POLL_SECONDS / 20)

    async def resume(self) -> None:
        """Sends SIGCONT."""
        self._require_process()
        self._signal(signal.SIGCONT)
        self._paused = False

    def enter(self) -> None:  # noqa: B027  # most do nothing
        """Runs first in the process, for example to enter a network namespace."""

    def _prepare_child(self) -> Callable[[], None]:
        dies = dies_with_us(signal.SIGKILL)

        def prepare() -> None:
            dies()
            self.enter()

        return prepare

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of the server's output."""
        try:
            text = (self.directory / "log").read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def _require_process(self) -> None:
        if self.state == STOPPED:
            raise ServerError(f"{self.name} is stopped; start it first")

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            try:
                self._process.send_signal(number)
            except ProcessLookupError:
                pass

    async def _ended(self) -> None:
        if self._process is not None:
            await self._process.wait()


def stand_still(pid: int) -> Iterator[bool]:
    """For each thread of a process, whether it is stopped, or has ended."""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # it has ended
            # The state comes after the name, which is in parentheses and may itself contain parentheses.
            yield stat.read_text().rpartition(")")[2].split()[0] in "TtZX"
