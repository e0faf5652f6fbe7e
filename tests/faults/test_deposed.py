"""A deposed leader does not notice it, and still serves its clients while its successor works."""

from __future__ import annotations

from ensemble import Ensemble
from steer import Peer
from workloads import CLIENTS

SESSION_MS = 5000


def test_no_client_is_valid_beside_the_next_holder(slow: Ensemble, root: str) -> None:
    old = slow.member("leader")
    holders = {name: Peer(name, slow.address(old), SESSION_MS) for name in CLIENTS}
    waiters = {name: Peer("rust-curator", slow.others(old), 4 * SESSION_MS) for name in CLIENTS}
    try:
        for name, holder in holders.items():
            path = f"{root}/{name}"
            holder.acquire(f"mutex {path}")
            holder.event("valid", path=path, valid=True)
            waiters[name].ask(f"wait mutex {path}")
        # The grants stay valid while there is a leader.
        for holder in holders.values():
            assert not [event for event in holder.unread("valid") if not event["valid"]]
        slow.do(f"depose {old}")
        for name, holder in holders.items():
            path = f"{root}/{name}"
            end = int(holder.event("valid", path=path, valid=False)["at"])
            begin = int(waiters[name].event("granted", path=path)["at"])
            assert end <= begin, f"{name} was valid {end - begin} µs too long"
    finally:
        slow.do(f"heal {old}")
        for peer in (*holders.values(), *waiters.values()):
            peer.close()
