"""Many contenders in one process, on few connections: each is a thread with a lock of its own."""

from __future__ import annotations

import os
import sys
import threading
from queue import Empty, SimpleQueue
from typing import Any

from addresses import Address
from loops import clock, say
from peers import RECIPES
from raw_zookeeper import connected

#: Small, because hundreds of threads share the memory.
STACK = 256 * 1024
LIMIT = 60.0


class Crowd:
    """Contenders for one of kazoo's locks, numbered in the order in which they join."""

    def __init__(self, address: Address, name: str, kind: str) -> None:
        self._address = address
        self._path = f"/{name}"
        self._recipe = RECIPES[kind]
        self._clients: list[Any] = []
        self._joined = 0
        self._looker: Any = None
        self._granted: SimpleQueue[tuple[int, int, Any]] = SimpleQueue()
        self._holding: dict[int, Any] = {}
        threading.stack_size(STACK)

    def obey(self, verb: str, number: int) -> object:
        """Runs a command, and returns its reply."""
        if verb == "open":
            self._clients += [connected(self._address) for _ in range(number)]
            return []
        if verb == "join":
            for _ in range(number):
                self._join()
            return []
        if verb == "pass":
            return [self._pass() for _ in range(number)]
        if verb == "look":
            return [self._look() for _ in range(number)]
        if verb == "held":
            return [self._held()]
        if verb == "release":
            while number not in self._holding:
                self._next()
            called = clock()
            self._holding.pop(number).release()
            return [called, clock()]
        raise ValueError(f"unknown command: {verb}")

    def _join(self) -> None:
        number = self._joined
        self._joined += 1
        client = self._clients[number % len(self._clients)]
        lock = getattr(client, self._recipe)(self._path, "bench")
        threading.Thread(target=self._contend, args=(lock, number), daemon=True).start()

    def _contend(self, lock: Any, number: int) -> None:
        try:
            if not lock.acquire():
                raise RuntimeError("kazoo's Lock was not acquired")
            self._granted.put((number, clock(), lock))
        except Exception as error:
            print(f"contender {number}: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)

    def _next(self, limit: float = LIMIT) -> int:
        number, moment, lock = self._granted.get(timeout=limit)
        self._holding[number] = lock
        return moment

    def _held(self) -> int:
        try:
            while True:
                self._next(0)
        except Empty:
            return len(self._holding)

    def _pass(self) -> list[int]:
        if not self._holding:
            self._next()
        lock = self._holding.pop(min(self._holding))
        called = clock()
        lock.release()
        return [called, self._next()]

    def _look(self) -> list[int]:
        if self._looker is None:
            # kazoo checks once that the directory exists.
            self._looker = getattr(self._clients[0], self._recipe)(self._path, "bench")
        called = clock()
        found = self._looker.contenders()
        return [called, clock(), len(found)]

    def close(self) -> None:
        """Ends the sessions, and with them the contenders that still wait."""
        for client in self._clients:
            client.stop()
        sys.stdout.flush()
        os._exit(0)  # the contenders' threads would continue to print errors


def serve_crowd(crowd: Crowd) -> None:
    """Runs commands until `quit`."""
    say("ready")
    for line in sys.stdin:
        verb, *numbers = line.split()
        if verb == "quit":
            break
        say(crowd.obey(verb, int(numbers[0]) if numbers else 0))
    crowd.close()
