"""A worker with many contenders in one process. The protocol is in ../README.md."""

from __future__ import annotations

import time

from .complaint import Complaint
from .programs import command
from .subjects import Subject
from .workers import Call, Worker


class Crowd(Worker):
    """Contenders for one lock, numbered from 0 in the order in which they join."""

    #: A worker with many contenders needs long to end.
    exit_limit = 30.0

    def __init__(self, subject: Subject, url: str, lock: str) -> None:
        super().__init__(subject, url, lock)
        self.joined = 0

    def program(self, subject: Subject) -> list[str]:
        """Its command line."""
        return command(subject, prefix="crowd-")

    def open(self, sessions: int) -> None:
        """Makes this many connections."""
        self.send(f"open {sessions}")
        self.receive()

    def join(self, count: int = 1) -> None:
        """This many more contenders acquire the lock."""
        self.send(f"join {count}")
        self.receive()
        self.joined += count

    def pass_on(self, count: int) -> list[Call]:
        """Hands the lock over `count` times; the times of the call of release and of the next acquire's
        return.
        """
        self.send(f"pass {count}")
        turns = [Call(*self._numbers(turn)) for turn in self.receive()]
        if len(turns) != count:
            raise self._complaint(f"answered {len(turns)} turns to 'pass {count}'")
        return turns

    def look(self, times: int, contenders: int) -> list[Call]:
        """Lists the holders and waiters `times` times, and checks their number."""
        self.send(f"look {times}")
        turns = [self._numbers(turn) for turn in self.receive()]
        if [found for *_, found in turns] != [contenders] * times:
            raise self._complaint(f"answered {turns!r} to 'look {times}' at {contenders} contenders")
        return [Call(called, returned) for called, returned, _ in turns]

    def release(self, number: int) -> None:
        """Releases the lock of this contender."""
        self.send(f"release {number}")
        self.receive()

    def holding(self, count: int, limit: float = 20.0) -> None:
        """Waits until `count` contenders hold the lock."""
        deadline = time.monotonic() + limit
        while (held := self.held()) < count:
            if time.monotonic() > deadline:
                raise Complaint(f"{self.subject}: {held} hold it, not {count}")
            time.sleep(0.002)

    def held(self) -> int:
        """The number of holders."""
        self.send("held")
        return self._numbers(self.receive())[0]
