"""The command that `run` runs: it gets the addresses in its environment, and this program's signals."""

from __future__ import annotations

import asyncio
import os
import signal

from .child import dies_with_us, request_death_signal
from .fleet import PREFIX
from .signals import Signals

GRACE_SECONDS = 10.0


async def run_guest(command: list[str], variables: dict[str, str], signals: Signals) -> int:
    """Runs `command` and returns its exit code, as a shell would (128 + N after signal N)."""
    guest = Guest(await start(command, variables))
    signals.forward(guest.pass_signal)
    try:
        code = await guest.process.wait()
    finally:
        signals.forward(None)
        guest.end_rest()
    return code if code >= 0 else 128 - code


async def start(command: list[str], variables: dict[str, str]) -> asyncio.subprocess.Process:
    """Starts `command`, without variables of an outer run."""
    environment = {name: value for name, value in os.environ.items() if not is_address(name)}
    environment.update(variables)
    parent = os.getpid()
    return await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        preexec_fn=(
            (lambda: request_death_signal(parent, signal.SIGTERM))
            if in_terminal()
            else dies_with_us(signal.SIGTERM)
        ),
    )


def is_address(name: str) -> bool:
    """Whether an environment variable is one of those that `Fleet.environment` sets."""
    return name.startswith(tuple(PREFIX + kind for kind in ("SERVERS", "ZOOKEEPER", "REDIS")))


def in_terminal() -> bool:
    """Whether standard input is a terminal.

    In that case, the command must stay in this process group: otherwise it could not read from the terminal.
    It then gets a Ctrl-C directly from the terminal. Without a terminal, it has its own group, so that
    signals also reach its children.
    """
    try:
        return os.isatty(0)
    except OSError:
        return False


class Guest:
    """The running command."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._own_group = not in_terminal()
        self._deadline: asyncio.TimerHandle | None = None

    def pass_signal(self, number: signal.Signals) -> None:
        """Passes a signal on, and kills the command with SIGKILL if it has not ended some time later."""
        if self._own_group or number != signal.SIGINT:
            self._send(number)
        if self._deadline is None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(GRACE_SECONDS, self._send, signal.SIGKILL)

    def end_rest(self) -> None:
        """Ends the remaining processes of the command's process group."""
        if self._deadline is not None:
            self._deadline.cancel()
        if self._own_group:
            self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        try:
            if self._own_group:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
        except (ProcessLookupError, PermissionError):
            pass
