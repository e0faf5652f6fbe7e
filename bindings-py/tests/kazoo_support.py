"""Kazoo's recipes and ours, by the same names, on clients that are closed after the test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fencepost.compat import kazoo as ours
from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError
from support import LONG, ZooKeeperBackend, wait_until

KINDS = ("kazoo", "ours")


class Kazoos:
    """Clients with their own directory, with kazoo's recipes or with ours."""

    def __init__(self, backend: ZooKeeperBackend) -> None:
        self.backend = backend
        self.observer = backend.client
        self.observer.ensure_path(f"/{backend.prefix}")
        self._made: list[Any] = []

    def client(self, kind: str, hosts: str | None = None, start: bool = True, **options: Any) -> Any:
        """A client whose recipes are of that kind."""
        hosts = f"{hosts or self.backend.address}/{self.backend.prefix}"
        make = ours.KazooClient if kind == "ours" else KazooClient
        client = make(hosts=hosts, **{"timeout": 10, **options})
        self._made.append(client)
        if start:
            client.start()
        return client

    def children(self, path: str) -> list[str]:
        """The nodes in a directory, in the order of their creation."""
        found = self.observer.get_children(f"/{self.backend.prefix}{path}")
        return sorted(found, key=lambda name: name[-10:])

    def close(self) -> None:
        """Stops all clients."""
        for client in self._made:
            client.stop()
            client.close()


class Worker:
    """A thread that acquires, keeps the lock until an event is set, and releases."""

    def __init__(self, recipe: Any, **how: Any) -> None:
        self.acquired = threading.Event()
        self.error: BaseException | None = None
        self.result: Any = None
        self._let_go = threading.Event()

        def run() -> None:
            try:
                self.result = recipe.acquire(**how)
                self.acquired.set()
                if self.result:
                    assert self._let_go.wait(LONG)
                    recipe.release()
            except (CancelledError, Exception) as error:
                self.error = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def finish(self) -> None:
        """Releases the lock, and waits for the end of the thread."""
        self._let_go.set()
        self.thread.join(LONG)
        assert not self.thread.is_alive()


@contextmanager
def queued(kazoos: Kazoos, path: str, recipe: Any, **how: Any) -> Iterator[Worker]:
    """A worker that waits in the queue of a lock."""
    before = len(kazoos.children(path))
    worker = Worker(recipe, **how)
    wait_until(lambda: len(kazoos.children(path)) == before + 1, "it is in the line")
    yield worker
    worker.finish()


Make = Callable[[], Any]
