"""The resource of a workload: the counter of tests/mixed, and a book of the periods of valid grants."""

from __future__ import annotations

import threading
from collections import Counter as Tally
from dataclasses import dataclass

from counter import CounterServer


@dataclass(frozen=True)
class Held:
    """A grant as its holder saw it: its fence, and the period of its validity in µs."""

    fence: int
    since: int
    until: int
    shared: bool


class Resource(CounterServer):
    """The counter with a book, on its own loopback port.

    `look FENCE` is for contenders that share the lock: the resource rejects it after a higher exclusive
    fence, and does not raise the highest fence. `held FENCE FROM TO` adds an entry to the book.
    """

    def __init__(self) -> None:
        self.book: list[Held] = []
        #: How many grants each contender has recorded. Each contender has one connection.
        self.tally: Tally[int] = Tally()
        #: The contenders that share the lock.
        self._sharing: set[int] = set()
        self._changed = threading.Condition()
        super().__init__()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Its address."""
        return f"127.0.0.1:{self.port}"

    def answer(self, contender: int, words: list[bytes]) -> str:
        """See CounterServer."""
        match words:
            case [b"look", fence]:
                self._sharing.add(contender)
                return self.look(int(fence))
            case [b"held", fence, since, until]:
                shared = contender in self._sharing
                self.record(contender, Held(int(fence), int(since), int(until), shared))
                return "ok"
            case [b"read", *_]:
                self._sharing.discard(contender)
        return super().answer(contender, words)

    def look(self, fence: int) -> str:
        """The value, or `stale`."""
        counter = self.counter
        return "stale" if fence < counter.highest else str(counter.value)

    def record(self, contender: int, held: Held) -> None:
        """Adds a grant to the book."""
        with self._changed:
            self.book.append(held)
            self.tally[contender] += 1
            self._changed.notify_all()

    def wait_for_all(self, since: Tally[int], contenders: int, times: int, timeout: float) -> bool:
        """Waits until each of `contenders` has held the lock `times` times since that tally."""

        def served() -> bool:
            return sum(self.tally[each] >= since[each] + times for each in self.tally) >= contenders

        with self._changed:
            return self._changed.wait_for(served, timeout)

    def tallied(self) -> Tally[int]:
        """The current tally."""
        with self._changed:
            return self.tally.copy()

    def take_book(self) -> list[Held]:
        """The entries since the last call."""
        with self._changed:
            book, self.book = self.book, []
            return book

    def clear_tally(self) -> None:
        """Begins a new tally, without a contender that was killed."""
        with self._changed:
            self.tally.clear()

    def close(self) -> None:
        """Ends it."""
        self.shutdown()
        self.server_close()
