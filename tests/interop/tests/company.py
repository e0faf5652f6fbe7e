"""Peers that contend for one lock: they start at the same time, and wait for their turns."""

from __future__ import annotations

from conftest import Start
from steer import Peer

#: Short, for peers that a test kills: their sessions must expire.
BRIEF_MS = 2000


def together(start: Start, *names: str, doomed: int = 0) -> list[Peer]:
    """Starts peers at the same time. The test will kill the first `doomed` of them."""
    peers = [start(name, BRIEF_MS) for name in names[:doomed]] + [start(name) for name in names[doomed:]]
    for peer, name in zip(peers, names, strict=True):
        assert peer.answer("ready")["peer"] == name
    return peers


def waits(peer: Peer) -> bool:
    """Whether its acquire still has no answer."""
    return all(line.get("answer") != "acquire" for line in peer.unread())


def has_got(peer: Peer, after: int = 0) -> int:
    """Returns the fence of the waiting acquire, which must be higher than `after`."""
    answer = peer.answer("acquire")
    assert answer["ok"], f"{peer.name}: {answer}"
    assert answer["granted"], f"{peer.name}: {answer}"
    fence = int(answer["czxid"])
    assert fence > after
    return fence
