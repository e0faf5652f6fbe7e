"""What is on the server, seen by nobody who contends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.exceptions import NoNodeError  # type: ignore[import-untyped]
from steer import Peer, wait_until


class Tree:
    """Looks at nodes."""

    def __init__(self, hosts: str) -> None:
        self.client = KazooClient(hosts=hosts)
        self.client.start()

    def contenders(self, path: str) -> list[str]:
        """The paths of all nodes here that go with a session; kazoo's semaphores have lines beside them."""
        return sorted(self._owned(path))

    def sessions(self, path: str) -> set[int]:
        """The sessions that these nodes go with."""
        return set(self._owned(path).values())

    def watchers(self, path: str) -> set[int]:
        """The sessions that watch a node's data."""
        sessions: set[int] = set()
        mine = False
        for line in self.client.command(b"wchp").splitlines():
            if not line.startswith("\t"):
                mine = line == path
            elif mine:
                sessions.add(int(line, 16))
        return sessions

    def see_join(self, path: str, peer: Peer, line: str) -> None:
        """Has a peer acquire what its protocol calls so, and waits until it stands in the line."""
        there = self.contenders(path)
        peer.send(f"acquire {line}")
        self.wait_for_newcomer(path, there)

    def wait_for_newcomer(self, path: str, known: Iterable[str]) -> None:
        """Waits for a node of somebody else than those who are known, some of whom may be leaving."""
        known = set(known)
        wait_until(lambda: known < known.union(self.contenders(path)), f"{path} has another contender")

    def wait_for_none(self, path: str) -> None:
        """Waits until the last session that had a node has run out."""
        wait_until(lambda: not self.contenders(path), f"{path} has no contenders")

    def close(self) -> None:
        """Ends the session."""
        self.client.stop()
        self.client.close()

    def _owned(self, path: str) -> dict[str, int]:
        return dict((*self._walk(path), *self._walk(f"{path}-__lock__")))

    def _walk(self, path: str) -> Iterator[tuple[str, int]]:
        try:
            _, stat = self.client.get(path)
            children = self.client.get_children(path)
        except NoNodeError:
            return
        if stat.ephemeralOwner:
            yield path, stat.ephemeralOwner
        for child in children:
            yield from self._walk(f"{path}/{child}")
