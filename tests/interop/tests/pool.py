"""The peers on one server. Starting one costs more than most tests, so many tests use an idle peer."""

from __future__ import annotations

from collections import defaultdict

from steer import SESSION_MS, Peer

#: The most idle peers of one name: few tests use more.
IDLE = 3


class PeerPool:
    """Starts peers, and keeps the idle ones."""

    def __init__(self, hosts: str) -> None:
        self._hosts = hosts
        self._idle: dict[str, list[Peer]] = defaultdict(list)

    def take(self, name: str, session_ms: int) -> Peer:
        """An idle peer, or a new one. A peer with another session timeout serves one test only: a short
        session could expire while the peer is idle.
        """
        idle = self._idle[name] if session_ms == SESSION_MS else []
        while idle:
            peer = idle.pop()
            if peer.reset():
                return peer
            peer.close()
        peer = Peer(name, self._hosts, session_ms)
        if session_ms != SESSION_MS:
            peer.spend()
        return peer

    def give_back(self, peer: Peer) -> None:
        """Keeps it if another test can use it, and ends it if not."""
        idle = self._idle[peer.name]
        if len(idle) < IDLE and peer.reset():
            idle.append(peer)
        else:
            peer.close()

    def close(self) -> None:
        """Ends the idle ones."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
