"""The peers on one server. Starting a peer takes longer than most tests, so many tests use an idle one."""

from __future__ import annotations

from collections import defaultdict

from steer import SESSION_MS, Peer

#: The largest number of idle peers with the same name: few tests use more.
IDLE = 3


class PeerPool:
    """Starts peers, and keeps the idle ones."""

    def __init__(self, hosts: str) -> None:
        self._hosts = hosts
        self._idle: dict[str, list[Peer]] = defaultdict(list)

    def take(self, name: str, session_ms: int) -> Peer:
        """An idle peer, or a new one. Only one test uses a peer with another session timeout: a short session
        could expire while the peer is idle.
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
        """Keeps the peer if another test can use it; otherwise ends it."""
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
