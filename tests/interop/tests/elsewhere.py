"""A separate server, for tests that would disturb others on the shared one."""

from __future__ import annotations

from steer import SESSION_MS, Peer, Servers
from tree import Tree


class Elsewhere:
    """One ZooKeeper of some version, and the peers on it."""

    def __init__(self, version: str) -> None:
        self.servers = Servers("--zookeeper", "--zookeeper-version", version)
        self.tree = Tree(self.servers.zookeeper)
        self._peers: list[Peer] = []

    def start(self, name: str, session_ms: int = SESSION_MS) -> Peer:
        """Starts a peer there."""
        self._peers.append(Peer(name, self.servers.zookeeper, session_ms))
        return self._peers[-1]

    def end_peers(self) -> None:
        """Ends the peers that were started."""
        while self._peers:
            self._peers.pop().close()

    def close(self) -> None:
        """Ends it."""
        self.end_peers()
        self.tree.close()
        self.servers.close()
