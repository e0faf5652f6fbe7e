"""What a line of contenders protects: the counter of tests/mixed, and a book of who believed to hold when."""

from __future__ import annotations

import threading
from collections import Counter as Tally
from dataclasses import dataclass

from counter import CounterServer


@dataclass(frozen=True)
class Held:
    """A grant that was believed in: its fence, and from when to when, in µs of this machine's clock."""

    fence: int
    since: int
    until: int
    shared: bool


class Resource(CounterServer):
    """The counter, served on a loopback port of its own, with a book.

    `look FENCE` is for those who share the lock: it is refused to whoever comes after a higher exclusive
    fence, and raises nothing. `held FENCE FROM TO` goes into the book.
    """

    def __init__(self) -> None:
        self.book: list[Held] = []
        #: How many grants each connection, that is each contender, has written down.
        self.tally: Tally[int] = Tally()
        #: Those whose grant is one of several.
        self._sharing: set[int] = set()
        self._changed = threading.Condition()
        super().__init__()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Where it is."""
        return f"127.0.0.1:{self.port}"

    def answer(self, contender: int, words: list[bytes]) -> str:
        """See CounterServer."""
        match words:
            case [b"look", fence]:
                self._sharing.add(contender)
                return self.look(int(fence))
            case [b"held", fence, since, until]:
                shared = contender in self._sharing
                self.write_down(contender, Held(int(fence), int(since), int(until), shared))
                return "ok"
            case [b"read", *_]:
                self._sharing.discard(contender)
        return super().answer(contender, words)

    def look(self, fence: int) -> str:
        """The value, or `stale`."""
        counter = self.counter
        return "stale" if fence < counter.highest else str(counter.value)

    def write_down(self, contender: int, held: Held) -> None:
        """Adds a grant to the book."""
        with self._changed:
            self.book.append(held)
            self.tally[contender] += 1
            self._changed.notify_all()

    def wait_for_everybody(self, since: Tally[int], contenders: int, times: int, patience: float) -> bool:
        """Waits until each of so many contenders has held so many times since that tally."""

        def served() -> bool:
            return sum(self.tally[each] >= since[each] + times for each in self.tally) >= contenders

        with self._changed:
            return self._changed.wait_for(served, patience)

    def tallied(self) -> Tally[int]:
        """The tally as it is now."""
        with self._changed:
            return self.tally.copy()

    def take_book(self) -> list[Held]:
        """What was written down since it was last taken."""
        with self._changed:
            book, self.book = self.book, []
            return book

    def forget_all(self) -> None:
        """Begins to tally anew: somebody was killed, and is not to be waited for."""
        with self._changed:
            self.tally.clear()

    def close(self) -> None:
        """Ends it."""
        self.shutdown()
        self.server_close()
