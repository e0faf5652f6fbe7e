"""A peer in Python, without its locks: the protocol is in ../README.md."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from mixed_counter import CounterClient

Answer = dict[str, Any]

_speaking = threading.Lock()


def say(line: Answer) -> None:
    """Prints one line in one write, from any thread."""
    with _speaking:
        print(json.dumps(line), flush=True)


class NotHere(Exception):
    """The peer does not support the command, or has no such hold."""


class Cancelled(Exception):
    """The acquire was cancelled."""


class Lost(Exception):
    """The lock to release is no longer held, or was lost before its acquire returned."""


@dataclass(frozen=True)
class Hold:
    """A held lock: its node, and the zxid of the node's creation."""

    kind: str
    path: str
    node: str
    czxid: int
    release: Callable[[], object]
    downgrade: Callable[[], object] | None = None
    leave: Callable[[], object] | None = None

    def describe(self) -> dict[str, str]:
        """Its fields in answers."""
        return {"kind": self.kind, "path": self.path, "node": self.node, "czxid": str(self.czxid)}


class Recipes(Protocol):
    """The locks of a peer, on one session."""

    def acquire(self, kind: str, path: str, timeout_ms: int) -> Hold | None:
        """Returns a hold, or None after the timeout; waits without limit if the timeout is negative."""

    def cancel(self) -> None:
        """Ends the waiting acquire, if there is one."""

    def contenders(self, kind: str, path: str) -> list[str]:
        """The holders and waiters, in the peer's order."""

    def session(self) -> Answer:
        """The session, in the form of the servers' command `expire`."""


class Peer:
    """One session, and its holds. One thread acquires and releases; another answers the other commands."""

    def __init__(self, recipes: Recipes) -> None:
        self._recipes = recipes
        self._holds: list[Hold] = []
        self._released: Hold | None = None
        self._counters: dict[str, CounterClient] = {}
        # The numbers of acquires received and answered. Only one thread writes each number.
        self._asked = self._answered = 0
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def obey(self, words: list[str]) -> None:
        """Runs one command, at once or after the earlier ones."""
        now: dict[str, Callable[..., Answer]] = {
            "session": self._recipes.session,
            "cancel": self._cancel,
            "contenders": self._contenders,
        }
        later: dict[str, Callable[..., Answer]] = {
            "acquire": self._acquire,
            "release": self._release,
            "increment": self._increment,
            "work": self._rounds,
        }
        # Only fencepost's peers have these.
        for name in ("stop", "revoke"):
            if hasattr(self._recipes, name):
                now[name] = getattr(self._recipes, name)
        if hasattr(self._recipes, "workload"):
            later |= {
                "workload": self._workload,
                "downgrade": self._downgrade,
                "leave": self._leave,
                "release-again": self._release_again,
            }
        verb = words[0]
        if verb == "acquire":
            self._asked += 1
        if verb == "workload" and verb in later:
            self._recipes.begin()  # type: ignore[attr-defined]
        if verb in later:
            self._work.put(lambda: self._guarded(verb, later[verb], words[1:]))
        else:
            self._guarded(verb, now.get(verb, self._unknown), words[1:])

    def _run(self) -> None:
        while True:
            self._work.get()()

    def _guarded(self, verb: str, does: Callable[..., Answer], words: list[str]) -> None:
        try:
            answer = {"ok": True, **does(*words)}
        except Exception as error:  # the test must see every error
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        say({"answer": verb, **answer})

    def _unknown(self, *_: str) -> Answer:
        raise NotHere("no such command; see tests/interop/README.md")

    def _cancel(self) -> Answer:
        self._recipes.cancel()
        return {"cancelled": self._asked > self._answered}

    def _contenders(self, kind: str, path: str) -> Answer:
        return {"nodes": self._recipes.contenders(kind, path)}

    def _acquire(self, kind: str, path: str, timeout: str = "-1") -> Answer:
        try:
            hold = self._recipes.acquire(kind, path, int(timeout))
        except Cancelled:
            return {"granted": False, "cancelled": True}
        finally:
            self._answered += 1
        if hold is None:
            return {"granted": False, "cancelled": False}
        self._holds.append(hold)
        return {"granted": True, **hold.describe()}

    def _release(self, what: str | None = None) -> Answer:
        hold = self._find(what)
        self._holds.remove(hold)
        self._released = hold
        hold.release()
        return hold.describe()

    def _leave(self, what: str | None = None) -> Answer:
        hold = self._find(what)
        self._holds.remove(hold)
        assert hold.leave is not None
        hold.leave()
        return hold.describe()

    def _release_again(self) -> Answer:
        if self._released is None:
            raise NotHere("nothing was released")
        self._released.release()
        return self._released.describe()

    def _downgrade(self, what: str | None = None) -> Answer:
        hold = self._find(what)
        assert hold.downgrade is not None
        hold.downgrade()
        return hold.describe()

    def _increment(self, address: str) -> Answer:
        return {"accepted": self._counter(address).increment(self._find(None).czxid)}

    def _rounds(self, kind: str, path: str, address: str, rounds: str) -> Answer:
        counter = self._counter(address)
        done = stale = lost = 0
        while done < int(rounds):
            try:
                hold = self._recipes.acquire(kind, path, -1)
            except Lost:
                lost += 1
                continue
            assert hold is not None
            if counter.increment(hold.czxid):
                done += 1
            else:
                stale += 1
            try:
                hold.release()
            except Lost:
                lost += 1
        return {"done": done, "stale": stale, "lost": lost}

    def _workload(self, kind: str, path: str, address: str, hold_ms: str) -> Answer:
        does: Callable[..., Answer] = self._recipes.workload  # type: ignore[attr-defined]
        return does(kind, path, self._counter(address), int(hold_ms))

    def _find(self, what: str | None) -> Hold:
        for hold in reversed(self._holds):
            if what in (None, hold.path, hold.node):
                return hold
        raise NotHere("nothing is held" + (f" at {what}" if what else ""))

    def _counter(self, address: str) -> CounterClient:
        if address not in self._counters:
            self._counters[address] = CounterClient(address)
        return self._counters[address]


def obey_until_the_end(recipes: Recipes) -> None:
    """Runs commands until `quit` or the end of the input."""
    peer = Peer(recipes)
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        if words:
            peer.obey(words)


def end() -> None:
    """Ends the process: a thread that waits for a lock would keep it alive."""
    os._exit(0)
