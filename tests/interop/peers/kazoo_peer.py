"""Takes kazoo's locks on command: the protocol is in ../README.md. usage: kazoo_peer.py HOSTS SESSION_MS"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

import kazoo.version  # type: ignore[import-untyped]
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo.exceptions import CancelledError  # type: ignore[import-untyped]
from kazoo_recipes import Hold, NotHere, Recipes
from mixed_counter import CounterClient

Answer = dict[str, Any]
CONNECT_SECONDS = 20

_speaking = threading.Lock()


def say(line: Answer) -> None:
    """Prints one line; whole, whichever thread says something else."""
    with _speaking:
        print(json.dumps(line), flush=True)


class Peer:
    """One session, and what it holds. One thread takes and releases; the rest is answered meanwhile."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._recipes = Recipes(client)
        self._holds: list[Hold] = []
        self._counters: dict[str, CounterClient] = {}
        # How many acquires were asked for, and answered: each number is of one thread.
        self._asked = self._answered = 0
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def obey(self, words: list[str]) -> None:
        """Does one command, now or after those before it."""
        now: dict[str, Callable[..., Answer]] = {
            "session": self._session,
            "cancel": self._cancel,
            "contenders": self._contenders,
        }
        later: dict[str, Callable[..., Answer]] = {
            "acquire": self._acquire,
            "release": self._release,
            "increment": self._increment,
            "work": self._rounds,
        }
        verb = words[0]
        if verb == "acquire":
            self._asked += 1
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
        except Exception as error:  # whatever it is, the test shall read it
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        say({"answer": verb, **answer})

    def _unknown(self, *_: str) -> Answer:
        raise NotHere("no such command of kazoo's; see tests/interop/README.md")

    def _session(self) -> Answer:
        number, password = self._client.client_id
        return {"session": hex(number % (1 << 64)), "password": password.hex()}

    def _cancel(self) -> Answer:
        self._recipes.cancel()
        return {"cancelled": self._asked > self._answered}

    def _contenders(self, kind: str, path: str) -> Answer:
        return {"nodes": self._recipes.contenders(kind, path)}

    def _acquire(self, kind: str, path: str, timeout: str = "-1") -> Answer:
        try:
            hold = self._recipes.acquire(kind, path, int(timeout))
        except CancelledError:
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
        hold.release()
        return hold.describe()

    def _increment(self, address: str) -> Answer:
        return {"accepted": self._counter(address).increment(self._find(None).czxid)}

    def _rounds(self, kind: str, path: str, address: str, rounds: str) -> Answer:
        counter = self._counter(address)
        done = stale = 0
        while done < int(rounds):
            hold = self._recipes.acquire(kind, path, -1)
            assert hold is not None
            if counter.increment(hold.czxid):
                done += 1
            else:
                stale += 1
            hold.release()
        return {"done": done, "stale": stale}

    def _find(self, what: str | None) -> Hold:
        for hold in reversed(self._holds):
            if what in (None, hold.path, hold.node):
                return hold
        raise NotHere("nothing is held" + (f" at {what}" if what else ""))

    def _counter(self, address: str) -> CounterClient:
        if address not in self._counters:
            self._counters[address] = CounterClient(address)
        return self._counters[address]


def main() -> None:
    """Obeys until `quit`, or the end of the input."""
    hosts, session = sys.argv[1:]
    client = KazooClient(hosts=hosts, timeout=int(session) / 1000)
    client.add_listener(lambda state: say({"event": "state", "state": state.lower()}))
    client.start(CONNECT_SECONDS)
    say({"answer": "ready", "ok": True, "peer": "kazoo", "version": kazoo.version.__version__})
    peer = Peer(client)
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        if words:
            peer.obey(words)
    client.stop()
    client.close()
    os._exit(0)  # a thread that waits for a lock would keep us here


if __name__ == "__main__":
    main()
