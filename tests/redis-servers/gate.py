"""The counter of tests/mixed, whose replies a test holds back while a contender holds the lock."""

from __future__ import annotations

import threading

from counter import CounterServer
from servers import LIMIT


class Gate(CounterServer):
    """Replies only to as many `write`s as the test permits."""

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
        """Waits until a contender waits for its reply, and so holds the lock."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waits, LIMIT), "no contender holds the lock"

    def let_pass(self, writes: int) -> None:
        """Permits this many more replies."""
        with self._changed:
            self._passes += writes
            # The waiting write now gets its reply, so wait_for_a_holder must wait for another holder.
            self._waits = False
            self._changed.notify_all()
