"""``fencepost exec`` on a terminal and together with other processes, as shells and their users see it."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMAND = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "fencepost"
#: The limit of every wait.
LIMIT = 30.0
PROMPT = "ready> "


class Terminal:
    """An interactive shell with job control, on a new terminal."""

    def __init__(self, folder: Path) -> None:
        os.environ["FENCEPOST_URL"] = f"redis://{os.environ['FENCEPOST_REDIS']}"
        os.environ["PATH"] = f"{COMMAND.parent}:{os.environ['PATH']}"
        self.shown = ""
        self._process, self._screen = pty.fork()
        if self._process == 0:
            os.chdir(folder)
            os.environ["PS1"] = PROMPT
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
        self.until(re.escape(PROMPT))

    def type(self, text: str) -> None:
        """Types a text, and clears the shown output."""
        self.shown = ""
        os.write(self._screen, text.encode())

    def until(self, pattern: str) -> str:
        """Waits until the terminal shows this pattern."""
        deadline = time.monotonic() + LIMIT
        while (found := re.search(pattern, self.shown)) is None:
            ready, _, _ = select.select([self._screen], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{pattern!r} was not shown: {self.shown!r}"
            self.shown += os.read(self._screen, 4096).decode()
        return found[0]

    def until_foreground(self, right: Callable[[int], bool]) -> None:
        """Waits until the right group of processes has the terminal."""
        deadline = time.monotonic() + LIMIT
        while not right(os.tcgetpgrp(self._screen)):
            assert time.monotonic() < deadline, os.tcgetpgrp(self._screen)
            time.sleep(0.001)

    def close(self) -> None:
        """Closes the terminal."""
        os.close(self._screen)
        os.waitpid(self._process, 0)


def beside(*command: str) -> subprocess.Popen[str]:
    """Starts a program without a terminal."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def runs(process: int) -> bool:
    """Whether a process still runs. An ended process may stay in the table until its parent waits for it."""
    try:
        line = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not line.rpartition(")")[2].startswith(" Z")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
def name() -> str:
    return f"terminal-{uuid.uuid4()}"


def test_a_command_reads_the_terminal(terminal: Terminal, name: str) -> None:
    terminal.type(f"fencepost exec {name} -- sh -c 'echo a''sks; read x; echo got=$x'\n")
    terminal.until("asks")
    terminal.type("hello\n")
    terminal.until("got=hello")
    terminal.until(PROMPT)


def test_a_command_reads_the_terminal_beside_a_pipe(terminal: Terminal, name: str) -> None:
    terminal.type(
        f"echo data | fencepost exec {name} -- sh -c 'echo a''sks; read x </dev/tty; echo got=$x'\n"
    )
    terminal.until("asks")
    terminal.type("hello\n")
    terminal.until("got=hello")
    terminal.until(PROMPT)


def test_a_command_in_a_substitution_reads_the_terminal(terminal: Terminal, name: str) -> None:
    """In ``$(…)``, bash ignores the signals of the terminal. The command must not inherit this."""
    terminal.type(f"x=$(fencepost exec {name} -- sh -c 'echo a''sks >&2; read x; echo $x'); echo got=$x\n")
    terminal.until("asks")
    terminal.type("hello\n")
    terminal.until("got=hello")
    terminal.until(PROMPT)


def test_the_other_end_of_a_pipe_reads_the_terminal(terminal: Terminal, name: str) -> None:
    pager = "sh -c 'echo a''sks >/dev/tty; read x </dev/tty; cat; echo got=$x'"
    terminal.type(f"fencepost exec {name} -- sh -c 'echo out; sleep 0.2; echo ev''ening' | {pager}\n")
    terminal.until("asks")
    terminal.type("hello\n")
    terminal.until("evening(?s:.)*got=hello")
    assert "Stopped" not in terminal.shown
    terminal.until(PROMPT)


def test_a_command_in_the_background_reads_after_fg(terminal: Terminal, name: str) -> None:
    terminal.type(f"fencepost exec {name} -- sh -c 'echo st''arts; read x; echo got=$x' &\n")
    terminal.until("starts")
    terminal.type("fg\n")
    terminal.until("fencepost exec")
    terminal.type("hello\n")
    terminal.until("got=hello")
    terminal.until(PROMPT)


@pytest.mark.parametrize("command", ["sleep 60", "sh -c 'read x'"])
def test_an_interrupt_ends_a_script(terminal: Terminal, name: str, tmp_path: Path, command: str) -> None:
    (tmp_path / "deploy").write_text(
        f"fencepost exec --status-fd 3 {name} -- {command} 3>&1\necho DEPLOYED\n"
    )
    terminal.type("bash deploy\n")
    terminal.until("started")
    terminal.type("\x03")
    terminal.until(re.escape(PROMPT))
    assert "DEPLOYED" not in terminal.shown


def test_an_interrupt_ends_a_script_that_waits(terminal: Terminal, name: str, tmp_path: Path) -> None:
    (tmp_path / "deploy").write_text(f"fencepost exec --status-fd 3 {name} -- true 3>&1\necho DEPLOYED\n")
    with beside("fencepost", "exec", name, "--", "sh", "-c", "echo held; cat") as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        terminal.type("bash deploy\n")
        terminal.until("waiting")
        terminal.type("\x03")
        terminal.until(re.escape(PROMPT))
        assert "DEPLOYED" not in terminal.shown
        assert holder.stdin is not None
        holder.stdin.close()


def test_a_stopped_command_ends_by_an_interrupt(terminal: Terminal, name: str) -> None:
    terminal.type(f"fencepost exec {name} -- sh -c 'echo at=$$; read x'\n")
    group = int(terminal.until(r"at=\d+\r")[3:])
    terminal.until_foreground(lambda present: present == group)
    terminal.type("\x1a")
    terminal.until_foreground(lambda present: present != group)
    terminal.type("\x03")
    terminal.until(re.escape(PROMPT))


def test_a_lock_is_held_on_through_a_new_size_of_the_window(terminal: Terminal, name: str) -> None:
    run = ["fencepost", "exec", "--json", "--status-fd", "1", "--min-hold", "60s", name, "--", "true"]
    with beside(*run) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if '"exited"' in line:
                break
        running.send_signal(signal.SIGWINCH)
        held = subprocess.run(["fencepost", "exec", "--nonblock", name, "--", "true"], check=False)
        assert held.returncode == 75
        running.terminate()
        assert running.wait(LIMIT) == 0


def test_the_exit_status_is_known_where_the_end_of_children_is_ignored(terminal: Terminal, name: str) -> None:
    program = "signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    run = [
        sys.executable,
        "-c",
        f"import os, signal, sys; {program}",
        "fencepost",
        "exec",
        name,
        "--",
        "sh",
        "-c",
        "exit 7",
    ]
    assert subprocess.run(run, check=False).returncode == 7


def test_what_a_command_leaves_behind_is_waited_for(terminal: Terminal, name: str) -> None:
    script = (
        "for i in 1 2 3 4 5; do setsid -f true; done; "
        "while ps --ppid $PPID -o stat= | grep -q Z; do sleep 0.01; done; echo none"
    )
    run = ["fencepost", "exec", name, "--", "sh", "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout == "none\n"


def test_another_watchdog_takes_the_place_of_one_that_was_killed(terminal: Terminal, name: str) -> None:
    run = ["fencepost", "exec", "--ttl", "5s", name, "--", "sh", "-c", "echo held; cat"]
    with beside(*run) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == "held\n"
        found = subprocess.run(
            ["pgrep", "-P", str(running.pid), "-f", "watchdog"], capture_output=True, check=True
        )
        os.kill(int(found.stdout), signal.SIGKILL)
        assert "another one was started" in running.stderr.readline()
        running.kill()
        # The second watchdog kills the command, which would wait for its input.
        assert running.stdout.read() == ""


def test_the_jobs_of_a_shell_inside_end_with_it_and_those_beside_it_go_on(
    terminal: Terminal, name: str
) -> None:
    terminal.type("sleep 60 & echo out''er=$!\n")
    outer = int(terminal.until(r"outer=\d+\r")[6:])
    terminal.type(f"PS1='ins''ide> ' fencepost exec --grace 200ms {name} -- bash --norc --noediting -i\n")
    terminal.until("inside> ")
    terminal.type("sleep 60 & echo inn''er=$!\n")
    inner = int(terminal.until(r"inner=\d+\r")[6:])
    assert os.getpgid(inner) == inner
    terminal.type("exit 5\n")
    terminal.until(PROMPT)
    terminal.type("echo co''de=$?\n")
    terminal.until("code=5")
    assert not runs(inner)
    os.kill(outer, signal.SIGTERM)


def test_an_interrupt_reaches_what_timeout_has_started(terminal: Terminal, name: str) -> None:
    terminal.type(
        f"fencepost exec {name} -- sh -c 'timeout 60 sh -c \"echo at=\\$\\$; exec sleep 60\"; exit'\n"
    )
    process = int(terminal.until(r"at=\d+\r")[3:])
    terminal.type("\x03")
    terminal.until(re.escape(PROMPT))
    assert not runs(process)
