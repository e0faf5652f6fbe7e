"""Holders in all languages: their server changes, or they are stopped for longer than their lease.

All of them run at once, each with its own lock and counter. The counter holds its reply back, so that its
contender holds the lock meanwhile.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial

import pytest
from gate import Gate
from servers import KINDS, Server, Switch, running, switch, wait_until
from test_clients import CLIENTS, ROUNDS, start
from test_mixed import finish


class Holder:
    """A contender that holds its lock until the test opens its gate."""

    def __init__(self, language: str, url: str, rounds: int, ttl_ms: int) -> None:
        self.language = language
        self.lock = f"stock/{language}"
        self.gate = Gate()
        self.gate.__enter__()
        self.process = start(language, url, self.lock, rounds, self.gate, str(ttl_ms))

    def stand_still(self) -> None:
        """Stops the process, and returns when it is stopped."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def go_on(self) -> None:
        """Continues the process."""
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Ends it."""
        self.process.kill()
        self.process.communicate()
        self.gate.let_pass(1)
        self.gate.__exit__()


@contextmanager
def holders(url: str, rounds: int, ttl_ms: int) -> Iterator[list[Holder]]:
    """One holder of each language."""
    with ExitStack() as stack:
        made = [stack.enter_context(closing(Holder(each, url, rounds, ttl_ms))) for each in CLIENTS]
        for holder in made:
            holder.gate.wait_for_a_holder()
        yield made


def value(server: Server, lock: str) -> str | None:
    """The contender that holds the lock; None if none does."""
    with closing(server.client()) as client:
        return client.get(lock)  # type: ignore[return-value]


def wait_for_renewals(server: Server, contenders: list[Holder]) -> None:
    """Returns when the server has renewed every lease."""
    with closing(server.client()) as client:
        rest: dict[str, int] = {}
        renewed: set[str] = set()

        def is_renewed(lock: str) -> bool:
            for each in (holder.lock for holder in contenders):
                before, rest[each] = rest.get(each), int(client.pttl(each))
                if before is not None and rest[each] > before:
                    renewed.add(each)
            return lock in renewed

        for holder in contenders:
            wait_until(partial(is_renewed, holder.lock), f"{server.address} renews {holder.lock}")


def fail_over(old: Server, new: Server, address: Switch) -> None:
    """The primary becomes a replica and keeps its connections; the address uses the new primary."""
    with closing(old.client()) as here, closing(new.client()) as there:

        def offset(client: object, name: str) -> int:
            return int(client.info("replication")[name])  # type: ignore[attr-defined]

        wait_until(
            lambda: offset(there, "slave_repl_offset") == offset(here, "master_repl_offset"),
            "the replica has everything",
        )
    new.promote()
    address.target = new
    old.replicate(new)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failover_that_the_connection_survives_loses_nothing(kind: str) -> None:
    """The first command after the failover is a renewal in one round, and a release in the next."""
    ttl_ms = 6000
    at_once = ("--repl-diskless-sync-delay", "0")
    with running(kind, *at_once) as one, running(kind, *at_once) as other, switch(one) as address:
        other.replicate(one)
        with holders(f"redis://{address.address}", ROUNDS, ttl_ms) as contenders:
            # Now the renewals have a connection to the old primary.
            wait_for_renewals(one, contenders)
            fail_over(one, other, address)
            wait_for_renewals(other, contenders)
            for holder in contenders:
                holder.gate.let_pass(1)
            for holder in contenders:
                holder.gate.wait_for_a_holder()
            fail_over(other, one, address)
            for holder in contenders:
                holder.gate.let_pass(ROUNDS)
            for holder in contenders:
                report = finish(holder.language, holder.process)
                assert report == {"done": ROUNDS, "stale": 0, "lost": 0}, holder.language
                assert (holder.gate.counter.value, holder.gate.counter.lost_updates) == (ROUNDS, 0)
                assert value(one, holder.lock) is None, holder.language


@pytest.mark.parametrize(("kind", "taken"), [*((kind, True) for kind in KINDS), ("redis-7.0", False)])
def test_a_lease_that_ended_in_a_pause_is_lost(kind: str, taken: bool) -> None:
    """The holder releases first of all when it continues. The next holder keeps the key."""
    with running(kind) as server, holders(f"redis://{server.address}", 1, 2000) as contenders:
        for holder in contenders:
            holder.stand_still()
            # The reply is already in the socket when the process continues.
            holder.gate.let_pass(1)
        with closing(server.client()) as client:
            for holder in contenders:
                wait_until(lambda lock=holder.lock: not client.exists(lock), "the lease has ended")
                if taken:
                    assert client.set(holder.lock, "another", nx=True, px=600_000)
        for holder in contenders:
            holder.go_on()
        for holder in contenders:
            report = finish(holder.language, holder.process)
            assert report == {"done": 1, "stale": 0, "lost": 1}, holder.language
            assert value(server, holder.lock) == ("another" if taken else None), holder.language
