"""A user of Redis with exactly the rights that `docs/how-to/operate-redis.md` names."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fencepost
import pytest
from support import RedisBackend

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "operate-redis.md"


def documented(name: str) -> list[str]:
    """The rights of a user whose locks and scopes have this name."""
    section = re.search(r"^## Rights\n(.*?)^- \*\*Databases", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert section
    # Another pattern is for names with a hash tag.
    text = re.sub(r"\(for a name.*?\)", "", section[1], flags=re.DOTALL)
    rights = [right for words in re.findall(r"`([+~&][^`]*)`", text) for right in words.split()]
    return [right.replace("NAME", name).replace("SCOPE", name) for right in rights]


@pytest.fixture
def name(redis_server: RedisBackend) -> str:
    return redis_server.prefix


@pytest.fixture
def client(redis_server: RedisBackend, name: str, connect: Callable[[str], Any]) -> Iterator[Any]:
    """The client of such a user. After the test, the server must not have denied it a right that it needs."""
    execute: Any = redis_server.client.execute_command
    execute("ACL", "SETUSER", name, "on", ">secret", *documented(name))
    yield connect(f"redis://{name}:secret@{redis_server.address}")
    log = redis_server.client.acl_log()
    execute("ACL", "DELUSER", name)
    denied = {(one["reason"], one["object"]) for one in log if one["username"] == name}
    # The client does not need these.
    assert denied <= {("command", "client|setinfo"), ("command", "ping")}


def test_the_documented_rights_are_enough_for_locks(client: fencepost.Client, name: str) -> None:
    lock = client.lock(name)

    def acquired() -> fencepost.Grant:
        grant = lock.acquire()
        assert grant is not None
        return grant

    with acquired() as grant:
        assert lock.acquire(blocking=False) is None
        waiter = threading.Thread(target=lambda: acquired().release())
        waiter.start()
        grant.extend()
    waiter.join()
    grant = acquired()
    (holder,) = lock.contenders()
    lock.break_contender(holder)
    assert lock.contenders() == []
    with pytest.raises(fencepost.LockLost):
        grant.release()


def test_the_documented_rights_are_enough_for_operations(client: fencepost.Client, name: str) -> None:
    scope = client.idempotency(name)
    with scope.claim("completed") as claim:
        claim.extend()
        claim.complete(17)
    assert scope.claim("completed").result == 17
    scope.claim("released").release()
    claim = scope.claim("left")
    claim.leave()
    claim = scope.claim("left")
    record = scope.look("left")
    assert record
    assert scope.settle("left", record, 18).value == 18
    record = scope.look("left")
    assert record
    scope.forget("left", record)
    scope.issue("token", "session")
    scope.consume("token", "session").complete(None)
    scope.register("known", 19)
    scope.update("value", 20, operation="first", version=0)
