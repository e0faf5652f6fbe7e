"""Queues that stand while a fault happens: a holder of every kind, and two behind it."""

from __future__ import annotations

from collections.abc import Sequence

from crew import close_all
from lines import QUEUES, Queue
from steer import Peer, wait_until
from tree import Tree

WAITERS = 2


class Queues:
    """Holders in every language, and two sessions that wait behind each of them."""

    def __init__(
        self, root: str, tree: Tree, holders: str, waiters: str, holders_ms: int, waiters_ms: int
    ) -> None:
        self.root = root
        self.holders = {name: Peer(name, holders, holders_ms) for name in {queue.holder for queue in QUEUES}}
        self.waiters = [Peer("rust-curator", waiters, waiters_ms) for _ in range(WAITERS)]
        self._tree = tree

    def line_up(self) -> None:
        """Has the holders hold, and the others queue behind them."""
        for peer in self.everybody:
            peer.answer("ready")
        for queue in QUEUES:
            for _ in range(queue.times):
                self.holder(queue).send(f"acquire {queue.holds} {self.path(queue)}")
        for queue in QUEUES:
            for _ in range(queue.times):
                answer = self.holder(queue).answer("acquire")
                assert answer["ok"], f"{queue}: {answer}"
                assert answer["granted"], f"{queue}: {answer}"
                self.event(queue, "valid", valid=True)
        self._wait_behind()

    @property
    def everybody(self) -> list[Peer]:
        """All peers."""
        return [*self.holders.values(), *self.waiters]

    @property
    def paths(self) -> list[str]:
        """Where their nodes are."""
        return [path for queue in QUEUES for path in self.path(queue).split(",")]

    def path(self, queue: Queue) -> str:
        """The path, or the paths, of a queue's lock."""
        return queue.path(self.root)

    def holder(self, queue: Queue) -> Peer:
        """Who holds it."""
        return self.holders[queue.holder]

    def event(self, queue: Queue, name: str, **wanted: object) -> dict[str, object]:
        """The holder's next event of this queue."""
        return self.holder(queue).event(name, path=self.path(queue), **wanted)

    def contenders(self) -> list[list[str]]:
        """Who stands in each queue where that can be seen."""
        return [self._tree.contenders(self.path(queue).split(",")[0]) for queue in QUEUES if queue.visible]

    def stand_otherwise(self, before: list[list[str]], *, fewer: bool) -> None:
        """Waits until fewer stand in each queue than before, or as many and not the same."""

        def otherwise() -> bool:
            pairs = zip(before, self.contenders(), strict=True)
            return all(now != then and (len(now) < len(then)) == fewer for then, now in pairs)

        wait_until(otherwise, "those who were thrown out are gone, or queue again")

    def holders_doubt(self) -> None:
        """Waits until every holder has heard that it cannot be sure any more."""
        for queue in QUEUES:
            for _ in range(queue.times):
                self.event(queue, "valid", valid=False)

    def holders_lose(self) -> list[int]:
        """Waits until every holder has heard that it has lost, and tells until when it believed."""
        ends = []
        for queue in QUEUES:
            path = self.path(queue)
            for _ in range(queue.times):
                self.event(queue, "lost")
            told = [each for each in self.holder(queue).heard("valid") if each["path"] == path]
            doubts = [int(each["at"]) for each in told if not each["valid"]]
            assert len(doubts) >= queue.times, f"{queue}: lost, and had no doubt: {told}"
            # Of several permits the first to go lets the first waiter in.
            ends.append(sorted(doubts)[-queue.times])
        return ends

    def holders_are_sure_again(self) -> None:
        """Waits until every holder has heard that it holds for certain."""
        for queue in QUEUES:
            for _ in range(queue.times):
                self.event(queue, "valid", valid=True)

    def nobody_is_granted(self) -> None:
        """Nobody who waits has been granted so far."""
        for waiter in self.waiters:
            assert not waiter.heard("granted"), waiter.heard("granted")

    def waiters_are_granted(self, order: Sequence[int] = (0, 1)) -> list[int]:
        """Waits until all who wait have been granted, and tells when the first of each queue was."""
        first = []
        for queue in QUEUES:
            granted = [self.waiters[who].event("granted", path=self.path(queue)) for who in order]
            if not self.together(queue):
                fences = [int(each["czxid"]) for each in granted]
                assert fences == sorted(fences), f"{queue}: {granted}"
            first.append(min(int(each["at"]) for each in granted))
        return first

    def together(self, queue: Queue) -> bool:
        """Whether those who wait are granted in no order: they share, or are not in a line."""
        return queue.waits.startswith(("read", "semaphore", "single"))

    def release(self) -> None:
        """Has every holder give everything back."""
        for queue in QUEUES:
            for _ in range(queue.times):
                self.holder(queue).ask(f"release {self.path(queue)}")

    def close(self) -> None:
        """Ends everybody."""
        close_all(self.everybody)

    def _wait_behind(self) -> None:
        for waiter in self.waiters:
            before = self.contenders()
            for queue in QUEUES:
                waiter.ask(f"wait {queue.waits} {self.path(queue)}")
            for queue, there in zip((queue for queue in QUEUES if queue.visible), before, strict=True):
                self._tree.wait_for_newcomer(self.path(queue).split(",")[0], there)
