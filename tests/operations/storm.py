"""A crowd whose workers are killed, or paused for longer than their leases, at random times."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from crowd import AT_A_KEY, CLIENTS, TASKS, start
from history import read
from worker import Server, Worker, wait_until

#: How long an operation takes, in ms, so that faults happen during operations.
TAKES = 50


@dataclass
class Member:
    """A worker that works on a part of the keys, and its command."""

    worker: Worker
    part: int
    line: str
    number: str
    stopped: bool = False


class Storm:
    """The workers, and the faults. The seed determines the faults; their times are counted in effects."""

    def __init__(self, server: Server, log: Path, keys: int, seed: int) -> None:
        self._log, self._keys = log, keys
        self._chance = random.Random(seed)
        log.touch()
        workers, parts = start(), CLIENTS // AT_A_KEY
        for worker in workers:
            worker.begin(server, server.lease)
        self._members = []
        for at, worker in enumerate(workers):
            part = at // AT_A_KEY
            line = f"work retake {quote(str(log))} {part} {parts} {keys} {TASKS} {TAKES}"
            self._members.append(Member(worker, part, line, worker.send(line)))

    def run(self) -> None:
        """Lets the workers claim all keys. For each part of the keys, one is killed and one is stopped."""
        parts = CLIENTS // AT_A_KEY
        faults = [(part, fault) for part in range(parts) for fault in (self._kill, self._stop)]
        self._chance.shuffle(faults)
        for at, (part, fault) in enumerate(faults, start=1):
            due = self._keys * at // (len(faults) + 2)
            self._wait_for(due)
            fault(self._chance.choice([member for member in self._standing() if member.part == part]))
        # The remaining members must take over from the others.
        self._finish(self._standing())
        stopped = [member for member in self._members if member.stopped]
        for member in stopped:
            member.worker.resume()
        self._finish(stopped)

    def end(self) -> None:
        """Ends all workers."""
        for member in self._members:
            member.worker.end()

    def _wait_for(self, effects: int) -> None:
        wait_until(lambda: len(read(self._log)[0]) >= effects, f"{effects} operations have run")

    def _standing(self) -> list[Member]:
        return [member for member in self._members if not (member.stopped or member.worker.killed)]

    def _kill(self, member: Member) -> None:
        member.worker.kill()

    def _stop(self, member: Member) -> None:
        member.worker.stop()
        member.stopped = True

    def _finish(self, members: Sequence[Member]) -> None:
        def answer(member: Member) -> None:
            given = member.worker.answer(member.number, member.line)
            assert given["answer"] == "ok", f"{member.worker.language}: {given}"

        with ThreadPoolExecutor(len(members)) as threads:
            list(threads.map(answer, members))
