"""Queues during a fault: a holder of every kind, and two waiters behind it."""

from __future__ import annotations

from collections.abc import Sequence

from steer import Peer, wait_until
from tree import Tree
from workers import close_all
from workloads import QUEUES, Queue

WAITERS = 2


class Queues:
    """Holders in every language, and two waiters behind each of them."""

    def __init__(
        self, root: str, tree: Tree, holders: str, waiters: str, holders_ms: int, waiters_ms: int
    ) -> None:
        self.root = root
        self.holders = {name: Peer(name, holders, holders_ms) for name in {queue.holder for queue in QUEUES}}
        self.waiters = [Peer("rust-curator", waiters, waiters_ms) for _ in range(WAITERS)]
        self._tree = tree

    def fill(self) -> None:
        """Lets the holders acquire, and then the waiters wait behind them."""
        for peer in self.peers:
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
    def peers(self) -> list[Peer]:
        """All peers."""
        return [*self.holders.values(), *self.waiters]

    @property
    def paths(self) -> list[str]:
        """The paths of their nodes."""
        return [path for queue in QUEUES for path in self.path(queue).split(",")]

    def path(self, queue: Queue) -> str:
        """The path, or the paths, of a queue's lock."""
        return queue.path(self.root)

    def holder(self, queue: Queue) -> Peer:
        """The peer that holds it."""
        return self.holders[queue.holder]

    def event(self, queue: Queue, name: str, **fields: object) -> dict[str, object]:
        """The holder's next event of this queue."""
        return self.holder(queue).event(name, path=self.path(queue), **fields)

    def contenders(self) -> list[list[str]]:
        """The contenders of each queue that is visible on the server."""
        return [self._tree.contenders(self.path(queue).split(",")[0]) for queue in QUEUES if queue.visible]

    def wait_for_change(self, before: list[list[str]], *, fewer: bool) -> None:
        """Waits until each queue has fewer contenders than before, or as many but different ones."""

        def changed() -> bool:
            pairs = zip(before, self.contenders(), strict=True)
            return all(now != then and (len(now) < len(then)) == fewer for then, now in pairs)

        wait_until(changed, "the expired contenders have left the queues, or have joined them again")

    def holders_become_invalid(self) -> None:
        """Waits until every holder has reported that its grant is not valid."""
        for queue in QUEUES:
            for _ in range(queue.times):
                self.event(queue, "valid", valid=False)

    def holders_lose(self) -> list[int]:
        """Waits until every holder has reported its loss; returns the end of each one's validity."""
        ends = []
        for queue in QUEUES:
            path = self.path(queue)
            for _ in range(queue.times):
                self.event(queue, "lost")
            events = [each for each in self.holder(queue).unread("valid") if each["path"] == path]
            invalid = [int(each["at"]) for each in events if not each["valid"]]
            assert len(invalid) >= queue.times, f"{queue}: lost, but was never invalid: {events}"
            # The first lost permit lets the first waiter in.
            ends.append(sorted(invalid)[-queue.times])
        return ends

    def holders_become_valid(self) -> None:
        """Waits until every holder has reported that its grant is valid."""
        for queue in QUEUES:
            for _ in range(queue.times):
                self.event(queue, "valid", valid=True)

    def no_waiter_is_granted(self) -> None:
        """Checks that no waiter has been granted so far."""
        for waiter in self.waiters:
            assert not waiter.unread("granted"), waiter.unread("granted")

    def waiters_are_granted(self, order: Sequence[int] = (0, 1)) -> list[int]:
        """Waits until all waiters get the lock; returns the time of the first grant of each queue."""
        first = []
        for queue in QUEUES:
            granted = [self.waiters[who].event("granted", path=self.path(queue)) for who in order]
            if not self.unordered(queue):
                fences = [int(each["czxid"]) for each in granted]
                assert fences == sorted(fences), f"{queue}: {granted}"
            first.append(min(int(each["at"]) for each in granted))
        return first

    def unordered(self, queue: Queue) -> bool:
        """Whether the waiters get the lock in any order: they share it, or it has no wait queue."""
        return queue.waits.startswith(("read", "semaphore", "single"))

    def release(self) -> None:
        """Lets every holder release all that it holds."""
        for queue in QUEUES:
            for _ in range(queue.times):
                self.holder(queue).ask(f"release {self.path(queue)}")

    def close(self) -> None:
        """Ends all peers."""
        close_all(self.peers)

    def _wait_behind(self) -> None:
        for waiter in self.waiters:
            before = self.contenders()
            for queue in QUEUES:
                waiter.ask(f"wait {queue.waits} {self.path(queue)}")
            for queue, there in zip((queue for queue in QUEUES if queue.visible), before, strict=True):
                self._tree.wait_for_newcomer(self.path(queue).split(",")[0], there)
