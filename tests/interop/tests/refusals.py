"""Commands that must fail at once, and the places of the nodes of each kind of contender."""

from __future__ import annotations

import time

from conftest import Start
from steer import SESSION_MS, Answer, Peer

#: fencepost's peers, one of each language.
OURS = ("rust-curator", "python-curator", "javascript-curator", "c-curator")
KINDS = ("mutex", "read", "write", "semaphore:2", "leader", "multi", "single")
#: The same with one permit: the second contender waits.
ALONE = tuple(kind.replace(":2", ":1") for kind in KINDS)
#: In seconds: an error must not wait for the end of a session or a lease.
AT_ONCE = 20.0


def directories(kind: str, path: str) -> list[str]:
    """The directories of the nodes of such a contender."""
    if kind.startswith("semaphore"):
        return [path, f"{path}/locks", f"{path}/leases"]
    return [f"{path}/a", f"{path}/b"] if kind == "multi" else [path]


def wanted(kind: str, path: str) -> str:
    """The kind and the names for an acquire at this path."""
    names = {"multi": f"{path}/a,{path}/b", "single": f"{path}/node"}
    return f"{kind} {names.get(kind, path)}"


def refused(peer: Peer, line: str) -> str:
    """Sends a command that must fail at once, and returns the error."""
    begin = time.monotonic()
    peer.send(line)
    error = refusal(peer, line.split()[0])
    assert time.monotonic() - begin < AT_ONCE, f"{peer.name}: {line}: {error}"
    return error


def refusal(peer: Peer, command: str) -> str:
    """The error of a command that was sent before."""
    answer: Answer = peer.answer(command)
    assert not answer["ok"], f"{peer.name}: {command}: {answer}"
    return str(answer["error"])


def started(start: Start, name: str, session_ms: int = SESSION_MS) -> Peer:
    """Starts a peer, and waits until it is connected."""
    peer = start(name, session_ms)
    peer.answer("ready")
    return peer
