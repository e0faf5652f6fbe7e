"""fencepost's recipes in Python by the names of the protocol."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import fencepost
import fencepost.asyncio
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.exceptions import NoNodeError  # type: ignore[import-untyped]
from kazoo.security import CREATOR_ALL_ACL, READ_ACL_UNSAFE  # type: ignore[import-untyped]
from mixed_counter import CounterClient
from python_workload import ValidityReporter, workload
from steered import Answer, Cancelled, Hold, Lost, NotHere, say

T = TypeVar("T")

#: The marker in a contender's node name, by kind; in kazoo's layout, all kinds have the same.
MARKS = {"read": "__READ__", "write": "__WRIT__", "leader": "latch-", "semaphore": "lease-"}


def given(hosts: str, session_ms: int, login: str) -> KazooClient:
    """A connection that the peer makes. Only its user may change its nodes; all users may read them."""
    rights = [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]
    kazoo = KazooClient(hosts, session_ms / 1000, default_acl=rights, auth_data=[("digest", login)])
    kazoo.start()
    return kazoo


class Recipes:
    """The recipes. The client's loop runs in another thread, so that an acquire can be cancelled."""

    def __init__(self, layout: str, hosts: str, session_ms: int, login: str = "") -> None:
        self._layout = cast(fencepost.SharedLayout, layout)
        self._given: KazooClient | None = None
        url = f"zk://{hosts}?session_timeout={session_ms}"
        self._client = self._open(url, (hosts, session_ms, login) if login else None)
        #: Finds nodes, because a grant has only its fence.
        self._look = KazooClient(hosts=hosts)
        self._look.start()
        self._reporting: dict[fencepost.asyncio.Grant, set[asyncio.Task[None]]] = {}
        self._waiting: concurrent.futures.Future[Any] | None = None
        self._enough = threading.Event()

    def acquire(self, kind: str, path: str, timeout_ms: int) -> Hold | None:
        """Returns a hold, or None after the timeout; waits without limit if the timeout is negative."""
        timeout = timeout_ms / 1000 if timeout_ms > 0 else None
        acquiring = self._lock(kind, path).acquire(timeout, blocking=timeout_ms != 0)
        self._waiting = asyncio.run_coroutine_threadsafe(acquiring, self._loop)
        try:
            grant = self._waiting.result()
        except concurrent.futures.CancelledError:
            raise Cancelled from None
        except fencepost.LockLost as lost:
            raise Lost(str(lost)) from lost
        finally:
            self._waiting = None
        if grant is None:
            return None
        assert grant.fence is not None
        self._run(self._watch(grant, path))
        try:
            node = self._node(path, grant.fence)
        except NotHere:
            # If the session has ended since the grant, its node is deleted, and this raises Lost. A release
            # alone may succeed then, because the end of the session also releases the lock.
            self._end(grant, lambda: extend_and_release(grant))
            raise
        return Hold(
            kind,
            path,
            node,
            grant.fence,
            release=lambda: self._end(grant, grant.release),
            leave=lambda: self._end(grant, lambda: grant.__aexit__(None, None, None)),
            downgrade=lambda: self._run(grant.downgrade()),
        )

    def cancel(self) -> None:
        """Ends the waiting acquire, if there is one."""
        waiting = self._waiting
        if waiting is not None:
            waiting.cancel()

    def contenders(self, kind: str, path: str) -> list[str]:
        """The nodes of the holders and waiters: of this kind in Curator's layout, of all kinds in kazoo's."""
        leases = kind.startswith("semaphore") and self._layout == "curator"
        directory = f"{path}/leases" if leases else path
        mark = "lock__" if self._layout == "kazoo" else MARKS.get(kind.partition(":")[0], "lock-")
        found = [child for child in self._list(directory) if mark in child]
        return [f"{directory}/{child}" for child in sorted(found, key=lambda child: child[-10:])]

    def revoke(self, node: str) -> Answer:
        """Sends the contender with this node a revocation request."""
        lock = self._lock("mutex", node.rpartition("/")[0])
        for contender in self._run(lock.contenders()):
            if contender.node == node:
                self._run(lock.revoke(contender))
                return {}
        raise NotHere(f"nobody has the node {node}")

    def workload(self, kind: str, path: str, resource: CounterClient, hold_ms: int) -> Answer:
        """Runs the workload until `stop`."""
        lock, shared = self._lock(kind, path), kind.startswith(("read", "semaphore"))
        return self._run(workload(lock.acquire, shared, resource, hold_ms, self._enough))

    def begin(self) -> None:
        """Resets `stop` before a workload."""
        self._enough.clear()

    def stop(self) -> Answer:
        """Ends the workload after one more acquire and release."""
        self._enough.set()
        return {}

    def session(self) -> Answer:
        """The session, in the form of the servers' `expire`. It owns a held node: the peer must hold one."""
        path = f"/fencepost-peer-{os.getpid()}"
        grant = self._run(self._lock("mutex", path).acquire())
        assert grant is not None
        assert grant.fence is not None
        session = self._look.exists(self._node(path, grant.fence)).ephemeralOwner
        self._run(grant.release())
        self._look.delete(path)
        return {"session": hex(session % (1 << 64)), "password": password(session).hex()}

    def close(self) -> None:
        """Ends the sessions."""
        self._run(self._client.close())
        self._look.stop()
        if self._given:
            self._given.stop()

    def _open(self, url: str, login: tuple[str, int, str] | None) -> Any:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        if login is None:
            return self._run(self._connect(url))
        self._given = given(*login)
        return self._run(self._take(self._given))

    async def _take(self, kazoo: KazooClient) -> fencepost.asyncio.Client:
        return fencepost.asyncio.Client(kazoo)

    async def _connect(self, url: str) -> fencepost.asyncio.Client:
        return await fencepost.asyncio.connect(url).__aenter__()

    def _lock(self, kind: str, path: str) -> Any:
        name, (what, _, permits) = path.lstrip("/"), kind.partition(":")
        client, layout, identifier = self._client, self._layout, "fencepost"
        if what in ("mutex", "revocable"):
            revocable = what == "revocable"
            return client.lock(name, layout=layout, identifier=identifier, revocable=revocable)
        if what == "single":
            return client.lock(name, identifier=identifier, fair=False)
        if what in ("read", "write"):
            both = client.read_write_lock(name, layout=layout, identifier=identifier)
            return both.reader if what == "read" else both.writer
        if what == "leader":
            return client.election(name, layout=layout, identifier=identifier)
        if what == "multi":
            names = [each.lstrip("/") for each in path.split(",")]
            return client.multi_lock(names, layout=layout, identifier=identifier)
        if what == "semaphore":
            return client.semaphore(name, int(permits), layout=layout, identifier=identifier)
        raise NotHere(f"fencepost has no {kind}")

    async def _watch(self, grant: fencepost.asyncio.Grant, path: str) -> None:
        """Reports revocation requests, the times at which the grant is valid, and its loss."""

        async def report() -> None:
            await ValidityReporter(grant, path).report_until(lost)
            say({"event": "state", "state": "lost"})
            say({"event": "lost", "path": path})

        async def report_request() -> None:
            if await grant.wait_revoke_requested():
                say({"event": "revoke", "path": path})

        lost = grant.lost
        reporting = {asyncio.ensure_future(each) for each in (report(), report_request())}
        self._reporting[grant] = reporting

    def _end(self, grant: fencepost.asyncio.Grant, ends: Callable[[], Coroutine[Any, Any, object]]) -> None:
        for reporting in self._reporting.pop(grant, ()):
            self._loop.call_soon_threadsafe(reporting.cancel)
        try:
            self._run(ends())
        except fencepost.LockLost as lost:
            raise Lost(str(lost)) from lost

    def _node(self, path: str, czxid: int) -> str:
        path = path.partition(",")[0]
        # This session may use another member of an ensemble, which does not have the node yet.
        self._look.sync(path)
        if getattr(self._look.exists(path), "czxid", None) == czxid:
            return path
        for directory in (path, f"{path}/leases"):
            for child in self._list(directory):
                stat = self._look.exists(f"{directory}/{child}")
                if stat is not None and stat.czxid == czxid:
                    return f"{directory}/{child}"
        raise NotHere(f"{path}: a lock was granted, and its node is gone")

    def _list(self, directory: str) -> list[str]:
        try:
            return list(self._look.get_children(directory))
        except NoNodeError:
            return []

    def _run(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()


async def extend_and_release(grant: fencepost.asyncio.Grant) -> None:
    """Raises LockLost if the grant has ended."""
    await grant.extend()
    await grant.release()


def password(session: int) -> bytes:
    """A session's password. A server derives it from the id, by a java.util.Random with that seed."""
    mask = (1 << 48) - 1
    state = ((session ^ 0xB3415C00) ^ 0x5DEECE66D) & mask
    words = []
    for _ in range(4):
        state = (state * 0x5DEECE66D + 0xB) & mask
        words.append((state >> 16).to_bytes(4, "little"))
    return b"".join(words)
