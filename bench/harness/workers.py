"""A worker: a process that acquires locks on command. The protocol is in ../README.md."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from types import TracebackType
from typing import NamedTuple

from .complaint import Complaint
from .programs import command
from .subjects import Subject

#: The time limit for a reply, in seconds. All replies are much faster.
LIMIT = 30.0

#: Acquires and releases before the measurement. Node's and Java's compilers need so many until times are
#: stable: after 4000, Curator still becomes 10 % faster. In other languages they only warm up the server.
WARM = {"javascript": 10_000, "java": 12_000}
WARM_OTHERS = 300


def _die_with_us() -> None:
    # Also if SIGKILL ends the harness: a worker that waits for a lock would not notice that.
    if _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        os._exit(1)


_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Call(NamedTuple):
    """When a call was made and when it returned: nanoseconds of CLOCK_MONOTONIC, one for all processes."""

    called: int
    returned: int


class Hold(NamedTuple):
    """One turn under contention: the times of call, grant and release, in the same nanoseconds."""

    called: int
    granted: int
    released: int


class Worker:
    """A running worker. Use it in a `with` statement, which ends it."""

    #: How long it may take to end, in seconds.
    exit_limit = 5.0

    def __init__(self, subject: Subject, url: str, lock: str) -> None:
        self.subject = subject
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by close
        self._process = subprocess.Popen(
            [*self.program(subject), url, lock],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            preexec_fn=_die_with_us,
        )
        self._unread = b""
        self._greeted = False

    def program(self, subject: Subject) -> list[str]:
        """Its command line."""
        return command(subject)

    def ready(self) -> None:
        """Waits until it is connected. It is faster to start several workers and then wait for all."""
        if not self._greeted:
            greeting = self._line(LIMIT)
            if greeting != "ready":
                raise self._complaint(f"said {greeting!r} instead of 'ready'")
            self._greeted = True

    def send(self, line: str) -> None:
        """Sends a command."""
        self.ready()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._complaint(f"was gone before {line!r}") from None

    def receive(self, limit: float = LIMIT) -> list[object]:
        """The reply to the earliest command without one."""
        line = self._line(limit)
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._complaint(f"answered {line!r}, which is not JSON") from None
        if not isinstance(answer, list):
            raise self._complaint(f"answered {line!r}, which is not an array")
        return answer

    def warm_up(self, share: float = 1.0) -> None:
        """Runs the cycles of the warm-up, or a share of them."""
        times = round(WARM.get(self.subject.language, WARM_OTHERS) * share / self.subject.locks)
        for _ in range(0, times, WARM_OTHERS):
            self.cycle(min(times, WARM_OTHERS))

    def cycle(self, times: int) -> list[int]:
        """Acquires and releases `times` times; returns the nanoseconds of each."""
        self.send(f"cycle {times}")
        answer = self._numbers(self.receive())
        if len(answer) != times:
            raise self._complaint(f"answered {len(answer)} times to 'cycle {times}'")
        return answer

    def call(self, verb: str) -> Call:
        """Sends `acquire` or `release`, and waits for the reply."""
        self.send(verb)
        return self.called()

    def called(self) -> Call:
        """The reply to an `acquire` or `release` that was sent before."""
        answer = self._numbers(self.receive())
        if len(answer) != 2:
            raise self._complaint(f"answered {answer!r}, which are not two times")
        return Call(*answer)

    def contended(self, seconds: float) -> list[Hold]:
        """The reply to a `contend` that was sent before."""
        turns = []
        for turn in self.receive(seconds + LIMIT):
            times = self._numbers(turn)
            if len(times) != 3:
                raise self._complaint(f"answered {turn!r}, which are not three times")
            turns.append(Hold(*times))
        return turns

    def _numbers(self, values: object) -> list[int]:
        if not isinstance(values, list) or not all(isinstance(value, int) for value in values):
            raise self._complaint(f"answered {values!r}, which are not whole numbers")
        return values

    def _line(self, limit: float) -> str:
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        deadline = time.monotonic() + limit
        chunks = [self._unread]
        while b"\n" not in chunks[-1]:
            if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise self._complaint(f"has said nothing for {limit:.0f} s")
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                raise self._complaint("has ended")
            chunks.append(chunk)
        line, _, self._unread = b"".join(chunks).partition(b"\n")
        return line.decode()

    def _complaint(self, what: str) -> Complaint:
        code = self._process.poll()
        ending = "" if code is None else f" (exit code {code})"
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return Complaint("\n".join([f"the worker {self.subject} {what}{ending}", *said[-12:]]))

    def close(self) -> None:
        """Ends it: first by `quit`, then by a kill."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(b"quit\n")
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(self.exit_limit)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
