"""A member stops sending without closing its connections, as after a power failure.

Holders are connected to it, and reach the other members through proxies, which refuse
connections until the holders are connected.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ensemble import NAMES, Ensemble
from steer import Peer
from workers import close_all
from workloads import CLIENTS

#: Milliseconds.
SESSION_MS = 10_000
#: A client confirms its session once in a third of the timeout. Holders begin at this many points of that
#: time.
PHASES = 3
BRIEF_MS = 5000


class Others:
    """All members except one, through proxies."""

    def __init__(self, ensemble: Ensemble, member: str) -> None:
        self._ensemble = ensemble
        self._proxies = [ensemble.do(f"proxy {other}") for other in NAMES if other != member]
        self.addresses = [str(proxy["address"]) for proxy in self._proxies]

    def connections(self) -> int:
        """The number of connections to them."""
        identities = {proxy["id"] for proxy in self._proxies}
        proxies = self._ensemble.do("list")["proxies"]
        return sum(proxy["connections"] for proxy in proxies if proxy["id"] in identities)

    def do(self, what: str) -> None:
        """Sends this command to all proxies."""
        for proxy in self._proxies:
            self._ensemble.do(f"proxy-{what} {proxy['id']}")


@contextmanager
def holders_at(
    ensemble: Ensemble, member: str, root: str, session_ms: int, phases: int = 1
) -> Iterator[tuple[dict[str, Peer], Others]]:
    """Holders that are connected to this member, by the paths of their locks; and the other members."""
    others, holders = Others(ensemble, member), dict[str, Peer]()
    hosts = ",".join([ensemble.address(member), *others.addresses])
    try:
        others.do("cut")
        begin = time.monotonic()
        for phase in range(phases):
            # There is no event to wait for: these holders must confirm their sessions later than the holders
            # before.
            time.sleep(max(0.0, begin + phase * session_ms / 3000 / phases - time.monotonic()))
            for name in CLIENTS:
                holders[f"{root}/{name}-{phase}"] = Peer(name, hosts, session_ms)
        for path, holder in holders.items():
            holder.answer("ready")
            holder.acquire(f"mutex {path}")
            holder.event("valid", path=path, valid=True)
        others.do("heal")
        yield holders, others
    finally:
        ensemble.do(f"heal {member}")
        ensemble.do("leader")
        close_all(holders.values())
        others.do("close")


def test_a_follower_that_falls_silent_costs_no_grant(slow: Ensemble, root: str) -> None:
    follower = slow.member("follower")
    with holders_at(slow, follower, root, SESSION_MS, PHASES) as (holders, others):
        slow.do(f"isolate {follower}")
        end = time.monotonic() + 1.5 * SESSION_MS / 1000
        while time.monotonic() < end:
            for path, holder in holders.items():
                assert not holder.unread("lost"), path
            time.sleep(0.05)
        assert others.connections() >= len(holders)
        for path, holder in holders.items():
            # The grant was invalid while its holder had no connection, and then valid again.
            states = [event["valid"] for event in holder.unread("valid")]
            assert states in ([], [False, True]), path
        other = Peer("rust-curator", slow.others(follower))
        try:
            for path, holder in holders.items():
                assert not other.ask(f"acquire mutex {path} 0")["granted"], path
                holder.ask("release")
                other.acquire(f"mutex {path} 0")
        finally:
            other.close()


def test_a_leader_that_falls_silent_ends_grants_by_their_own_time(slow: Ensemble, root: str) -> None:
    leader = slow.member("leader")
    waiters = [Peer("rust-curator", slow.others(leader), 8 * BRIEF_MS) for _ in CLIENTS]
    try:
        with holders_at(slow, leader, root, BRIEF_MS) as (holders, _):
            for path, waiter in zip(holders, waiters, strict=True):
                waiter.ask(f"wait mutex {path}")
            slow.do(f"isolate {leader}")
            for (path, holder), waiter in zip(holders.items(), waiters, strict=True):
                end = int(holder.event("valid", path=path, valid=False)["at"])
                begin = int(waiter.event("granted", path=path)["at"])
                assert end <= begin, f"{path} was valid {end - begin} µs too long"
    finally:
        close_all(waiters)
