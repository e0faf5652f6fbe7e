"""The nodes on the server, read by a separate client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.exceptions import NoNodeError  # type: ignore[import-untyped]
from steer import Peer, wait_until


class Tree:
    """Reads nodes."""

    def __init__(self, hosts: str) -> None:
        self.client = KazooClient(hosts=hosts)
        self.client.start()

    def contenders(self, path: str) -> list[str]:
        """The paths of all ephemeral nodes here; kazoo's semaphores queue in another directory."""
        return sorted(self._owned(path))

    def sessions(self, path: str) -> set[int]:
        """The sessions that own these nodes."""
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
        """Sends this acquire to a peer, and waits until the peer is in the wait queue."""
        there = self.contenders(path)
        peer.send(f"acquire {line}")
        self.wait_for_newcomer(path, there)

    def wait_for_newcomer(self, path: str, known: Iterable[str]) -> None:
        """Waits for a new contender; some of the known ones may be leaving."""
        known = set(known)
        wait_until(lambda: known < known.union(self.contenders(path)), f"{path} has another contender")

    def wait_for_none(self, path: str) -> None:
        """Waits until the sessions of all contenders have ended."""
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
