"""The counter of tests/mixed, whose answers a test keeps back while a contender holds the lock."""

from __future__ import annotations

import threading

from counter import CounterServer
from servers import LIMIT


class Gate(CounterServer):
    """Answers as many `write`s as the test lets pass."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._waits = False
        self._passes = 0

    def answer(self, contender: int, words: list[bytes]) -> str:
        """See CounterServer."""
        answer = super().answer(contender, words)
        if words[0] == b"write":
            with self._changed:
                self._waits = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._passes > 0)
                self._waits = False
                self._passes -= 1
        return answer

    def wait_for_a_holder(self) -> None:
        """Waits until a contender waits for its answer: it holds the lock."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waits, LIMIT), "no contender holds the lock"

    def let_pass(self, writes: int) -> None:
        """Answers so many more."""
        with self._changed:
            self._passes += writes
            # The write that waits will be answered: the next holder to wait for is another one.
            self._waits = False
            self._changed.notify_all()
