"""The core's scripts on real servers: their replies, and the keys that they do not change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis
from fencepost.hub import is_from_replica
from servers import KINDS, ROOT, Server, running

SCRIPTS = ROOT / "core" / "src" / "redis" / "scripts"
NAME = "stock/42"
FENCE = "{stock/42}:fence"
GONE = "{stock/42}:gone:"
CHANNEL = "{stock/42}:released"
OURS, THEIRS = "ours-1", "theirs-1"
LEASE, KEEP, TOMBSTONE = "10000", "604800000", "10000"
#: Every right except the right to a channel.
RIGHTS = ["~stock/*", "~{stock/*", "+@all", "-@admin"]
#: The greatest fence after which there is another one.
LAST = 2**53 - 2


class Lock:
    """The scripts on one connection."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def run(self, script: str, keys: list[str], arguments: list[str]) -> Any:
        """Runs a script, and returns its reply."""
        text = (SCRIPTS / f"{script}.lua").read_text(encoding="utf-8")
        return self.client.eval(text, len(keys), *keys, *arguments)

    def acquire(self, attempt: str) -> Any:
        """See scripts.rs, also for the other methods."""
        return self.run("acquire", [NAME, FENCE, GONE + attempt], [attempt, LEASE, KEEP, TOMBSTONE])

    def renew(self, attempt: str) -> Any:
        return self.run("renew", [NAME, FENCE], [attempt, LEASE, KEEP])

    def release(self, attempt: str) -> Any:
        return self.run("release", [NAME, GONE + attempt], [attempt, CHANNEL, TOMBSTONE])


@pytest.fixture(params=KINDS, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    """Every kind of server."""
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str) -> Iterator[Server]:
    with running(kind) as server:
        yield server


@pytest.fixture
def lock(server: Server) -> Iterator[Lock]:
    """The scripts on an empty server."""
    with closing(server.client()) as client:
        client.flushall()
        yield Lock(client)


def test_a_lock_is_taken_renewed_and_given_back(lock: Lock) -> None:
    granted, fence = lock.acquire(OURS)
    assert (granted, int(fence) > 0) == (1, True)
    held, left, holder = lock.acquire(THEIRS)
    assert (held, 0 < left <= int(LEASE), holder) == (0, True, OURS)
    assert lock.renew(OURS) == [1]
    assert lock.renew(THEIRS) == [0, OURS]
    assert lock.release(THEIRS) == [0, OURS]
    assert lock.release(OURS) == [1]
    assert lock.client.get(NAME) is None
    assert lock.renew(OURS) == [0, None]


def test_a_replica_refuses_every_script(kind: str, server: Server, lock: Lock) -> None:
    lock.acquire(OURS)
    with running(kind) as replica:
        replica.replicate(server)
        with closing(replica.client()) as client:
            demoted = Lock(client)
            for attempt in (OURS, THEIRS):
                for script in (demoted.acquire, demoted.renew, demoted.release):
                    with pytest.raises(redis.exceptions.ResponseError) as caught:
                        script(attempt)
                    error = caught.value
                    code = getattr(error, "status_code", None) or ""
                    assert is_from_replica(f"{code} {error}".strip()), error


def test_a_release_that_was_sent_twice_is_a_release(lock: Lock) -> None:
    lock.acquire(OURS)
    assert lock.release(OURS) == [1]
    assert lock.release(OURS) == [1]
    lock.acquire(THEIRS)
    assert lock.release(OURS) == [1]
    assert lock.client.get(NAME) == THEIRS
    # A second release of a key of another client also changes nothing.
    lock.client.set(NAME, "another")
    assert lock.release(THEIRS) == [0, "another"]
    lock.client.delete(NAME)
    assert lock.release(THEIRS) == [0, None]


def test_an_acquire_that_comes_after_its_release_is_refused(lock: Lock) -> None:
    lock.acquire(OURS)
    lock.release(OURS)
    assert lock.acquire(OURS) == [2]
    assert lock.client.get(NAME) is None


def test_a_repeated_acquire_has_its_fence_or_a_new_one(lock: Lock) -> None:
    _, fence = lock.acquire(OURS)
    assert lock.acquire(OURS) == [1, fence]
    lock.client.delete(FENCE)
    granted, later = lock.acquire(OURS)
    assert (granted, int(later) > int(fence)) == (1, True)
    assert lock.client.get(FENCE) == later


@pytest.mark.parametrize("kept", ["soon", "", "-1", "1e3", "0x10", " 7", "nan", str(LAST + 1), "9" * 40])
def test_what_is_no_fence_is_refused(lock: Lock, kept: str) -> None:
    lock.client.set(FENCE, kept)
    assert lock.acquire(OURS) == [3, kept]
    assert lock.client.get(NAME) is None
    assert lock.client.get(FENCE) == kept


def test_the_last_fence_that_another_one_may_follow(lock: Lock) -> None:
    lock.client.set(FENCE, LAST)
    assert lock.acquire(OURS) == [1, str(LAST + 1)]


def test_a_full_server_still_grants_and_frees(lock: Lock) -> None:
    lock.client.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis.exceptions.ResponseError, match=r"OOM|memory"):
            lock.client.set("anything", "x")
        granted, _ = lock.acquire(OURS)
        assert granted == 1
        assert lock.renew(OURS) == [1]
        assert lock.release(OURS) == [1]
        assert lock.client.get(NAME) is None
    finally:
        lock.client.config_set("maxmemory", 0)


def test_a_user_without_channels_gives_locks_back(server: Server, lock: Lock) -> None:
    server.say("ACL", "SETUSER", "clerk", "reset", "resetchannels", "on", ">sesame", *RIGHTS)
    with closing(server.client(username="clerk", password="sesame")) as client:
        with pytest.raises(redis.exceptions.ResponseError, match="channel"):
            client.publish(CHANNEL, "1")
        clerk = Lock(client)
        clerk.acquire(OURS)
        assert clerk.release(OURS) == [1]
    assert lock.client.get(NAME) is None
