"""Operations of a user without one right: a step that the server refuses changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import fencepost
import pytest
from servers import KINDS, Server, running

SCOPE, KEY, TOKEN, STOCK = "rights", "order-17", "ticket-17", "stock-17"
#: The commands that the scripts call.
COMMANDS = ("get", "set", "del", "pexpire", "pttl", "time", "hgetall", "hset", "hdel", "publish")


#: The fields of each record, by its key.
Records = dict[str, dict[str, str]]


@dataclass
class Place:
    """One user's operations, and their records."""

    server: Server
    admin: Any
    client: fencepost.Client

    def __post_init__(self) -> None:
        self.clerk = self.client.idempotency(SCOPE)

    def stored(self) -> Records:
        """All records of operations, without the records of cancelled attempts."""
        keys = sorted(self.admin.keys(f"fencepost:{{{SCOPE}/*"))
        return {key: self.admin.hgetall(key) for key in keys if self.admin.type(key) == "hash"}

    @contextmanager
    def without(self, command: str) -> Iterator[None]:
        """Removes the user's right to a command inside the block."""
        self.server.say("ACL", "SETUSER", "clerk", f"-{command}")
        try:
            yield
        finally:
            self.server.say("ACL", "SETUSER", "clerk", f"+{command}")

    def record(self, key: str) -> fencepost.Record:
        """The stored record of an operation."""
        record = self.clerk.look(key)
        assert record is not None
        return record


@pytest.fixture(params=KINDS, scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with running(str(request.param)) as server:
        yield server


@pytest.fixture
def place(server: Server) -> Iterator[Place]:
    with closing(server.client()) as admin:
        admin.flushall()
        server.say("ACL", "SETUSER", "clerk", "reset", "on", ">sesame", "~*", "&*", "+@all")
        with fencepost.connect(f"redis://clerk:sesame@{server.address}") as client:
            yield Place(server, admin, client)


#: A step prepares, and returns the call that the server refuses.
Step = Callable[[Place], Callable[[], object]]


def claims(place: Place) -> Callable[[], object]:
    return lambda: place.clerk.claim(KEY)


def takes_over(place: Place) -> Callable[[], object]:
    place.clerk.claim(KEY).leave()
    return lambda: place.clerk.claim(KEY)


def consumes(place: Place) -> Callable[[], object]:
    place.clerk.issue(TOKEN, "alice")
    return lambda: place.clerk.consume(TOKEN, "alice")


def completes(place: Place) -> Callable[[], object]:
    claim = place.clerk.claim(KEY)
    return lambda: claim.complete("paid")


def releases(place: Place) -> Callable[[], object]:
    return place.clerk.claim(KEY).release


def gives_a_token_back(place: Place) -> Callable[[], object]:
    place.clerk.issue(TOKEN, "alice")
    return place.clerk.consume(TOKEN, "alice").release


def leaves(place: Place) -> Callable[[], object]:
    return place.clerk.claim(KEY).leave


def updates(place: Place) -> Callable[[], object]:
    place.clerk.update(STOCK, 100, operation="first", version=0)
    return lambda: place.clerk.update(STOCK, 99, operation="second", version=1)


def settles(place: Place) -> Callable[[], object]:
    place.clerk.claim(KEY).leave()
    record = place.record(KEY)
    return lambda: place.clerk.settle(KEY, record, "paid")


def forgets(place: Place) -> Callable[[], object]:
    place.clerk.claim(KEY).leave()
    record = place.record(KEY)
    return lambda: place.clerk.forget(KEY, record)


STEPS = (
    claims,
    takes_over,
    consumes,
    completes,
    releases,
    gives_a_token_back,
    leaves,
    updates,
    settles,
    forgets,
)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_step_that_is_refused_changes_nothing(place: Place, step: Step, command: str) -> None:
    ask = step(place)
    before = place.stored()
    with place.without(command):
        # Keeps the claim alive until the right is back: otherwise the client would leave a dropped claim
        # without the right.
        result = result_of(ask)
    if not isinstance(result, fencepost.Refused):
        assert place.stored() != before
    else:
        assert result.name == "no-permission"
        assert [*unextended(place.stored(), before)] == [*before.items()]
        ask()


def unextended(after: Records, before: Records) -> Iterator[tuple[str, dict[str, str]]]:
    """The records with their former leases, because a running claim renews its lease."""
    for key, record in after.items():
        former = before.get(key, {})
        if int(record.get("lease", 0)) > int(former.get("lease", 0)) > 0:
            record = {**record, "lease": former["lease"]}
        yield key, record


def result_of(ask: Callable[[], object]) -> object:
    """The result of a call, or the error that it raises."""
    try:
        return ask()
    except fencepost.Refused as refused:
        return refused


def test_a_dropped_claim_that_the_server_refuses_to_end_lasts_one_lease(place: Place) -> None:
    """The client no longer renews it, and the next attempt takes the operation over."""
    brief = place.client.idempotency(SCOPE, lease=1)
    with place.without("set"):
        dropped = brief.claim(KEY)
        del dropped
        claim = brief.claim(KEY, timeout=60)
        assert claim.takeovers == 1
    claim.release()
