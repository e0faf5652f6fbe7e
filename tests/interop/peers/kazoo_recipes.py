"""kazoo's recipes by the names of the protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from kazoo.exceptions import CancelledError, LockTimeout  # type: ignore[import-untyped]
from steered import Cancelled, Hold, NotHere

SEMAPHORE = "semaphore:"


class Recipes:
    """The recipes, on one client."""

    def __init__(self, client: Any) -> None:
        self._client = client
        #: Ends the waiting acquire.
        self._stop: Callable[[], None] | None = None

    def acquire(self, kind: str, path: str, timeout_ms: int) -> Hold | None:
        """Returns a hold, or None after the timeout; waits without limit if the timeout is negative."""
        timeout = None if timeout_ms < 0 else timeout_ms / 1000
        if kind == "leader":
            return self._leader(path, timeout)
        lock = self._lock(kind, path)
        self._stop = lock.cancel
        try:
            granted = lock.acquire(blocking=timeout != 0, timeout=timeout or None)
        except LockTimeout:
            return None
        except CancelledError:
            raise Cancelled from None
        finally:
            self._stop = None
        if not granted:
            return None
        node = lock.create_path if kind.startswith(SEMAPHORE) else f"{path}/{lock.node}"
        return self._hold(kind, path, node, lock.release)

    def cancel(self) -> None:
        """Ends the waiting acquire, if there is one; kazoo ignores a cancel that comes too early."""
        stop = self._stop
        if stop is not None:
            stop()

    def contenders(self, kind: str, path: str) -> list[str]:
        """The identifiers of holders and waiters, in kazoo's order."""
        if kind.startswith(SEMAPHORE):
            return list(self._client.Semaphore(path).lease_holders())
        recipe = self._client.Election(path) if kind == "leader" else self._lock(kind, path)
        return list(recipe.contenders())

    def session(self) -> dict[str, str]:
        """The session, in the form of the servers' command `expire`."""
        number, password = self._client.client_id
        return {"session": hex(number % (1 << 64)), "password": password.hex()}

    def _lock(self, kind: str, path: str) -> Any:
        if kind.startswith(SEMAPHORE):
            permits = int(kind.removeprefix(SEMAPHORE))
            return self._client.Semaphore(path, "kazoo", max_leases=permits)
        makes = {"mutex": self._client.Lock, "read": self._client.ReadLock, "write": self._client.WriteLock}
        if kind not in makes:
            raise NotHere(f"kazoo has no {kind}")
        return makes[kind](path, "kazoo")

    def _leader(self, path: str, timeout: float | None) -> Hold | None:
        term = Term(self._client.Election(path, "kazoo"))
        self._stop = term.give_up
        try:
            leads = term.begin(timeout)
        finally:
            self._stop = None
        return self._hold("leader", path, f"{path}/{term.node}", term.end) if leads else None

    def _hold(self, kind: str, path: str, node: str, release: Callable[[], object]) -> Hold:
        stat = self._client.exists(node)
        if stat is None:
            raise NotHere(f"{node}: a lock was granted, and its node is gone")
        return Hold(kind, path, node, stat.czxid, release)


class Term:
    """A term of a leader: kazoo's Election runs a function for as long as it leads."""

    def __init__(self, election: Any) -> None:
        self._election = election
        self._settled = threading.Event()
        self._over = threading.Event()
        self._leads = False
        self._given_up = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def node(self) -> str:
        """The name of the node."""
        return str(self._election.lock.node)

    def begin(self, timeout: float | None) -> bool:
        """Waits, and returns whether it becomes the leader within the timeout."""
        self._thread.start()
        self._settled.wait(timeout)
        if self._leads:
            return True
        cancelled = self._given_up
        self.give_up()
        self._thread.join()
        if cancelled:
            raise Cancelled
        return False

    def give_up(self) -> None:
        """Withdraws from the election."""
        self._given_up = True
        self._over.set()
        self._election.cancel()

    def end(self) -> None:
        """Ends the term, and returns when others can lead."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._election.run(self._lead)
        finally:
            self._settled.set()

    def _lead(self) -> None:
        self._leads = not self._given_up
        self._settled.set()
        self._over.wait()
