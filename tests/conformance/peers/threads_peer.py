"""Runs the commands of its input with Python's client for threads: the protocol is in ../README.md."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any
from urllib.parse import unquote

import fencepost
from threads_operations import Operations
from words import Command, control, described, failure, look, make_lock, parse, say


class Peer:
    """The clients, locks and grants, by their names in the commands."""

    def __init__(self) -> None:
        self.clients: dict[str, fencepost.Client] = {}
        self.locks: dict[str, fencepost.Lock] = {}
        self.grants: dict[str, fencepost.Grant] = {}
        self.found: dict[str, list[fencepost.Found]] = {}
        self.operations = Operations(self.clients)

    def answer(self, command: Command) -> None:
        """Runs a command, and prints its answer."""
        try:
            answer, more = self.do(command.verb, command.words, dict(command.options))
        except Exception as error:
            answer, more = failure(error)
        say(command.number, answer, **more)

    def do(self, verb: str, words: list[str], options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Runs a command, and returns its answer."""
        if verb == "client":
            self.clients[words[0]] = fencepost.connect(unquote(words[1]))
        elif verb == "lock":
            name, client, kind, path = words
            self.locks[name] = make_lock(self.clients[client], kind, path, options)
        elif verb in ("acquire", "try"):
            return self.acquire(words[0], self.locks[words[1]], blocking=verb == "acquire", **options)
        elif verb in self.operations.does:
            return self.operations.does[verb](words, options)
        elif verb in ("release", "extend", "downgrade"):
            getattr(self.held(words[0]), verb)()
        elif verb == "look":
            return "ok", look(self.held(words[0]))
        elif verb == "loss":
            self.held(words[0]).lost.wait()
            self.held(words[0]).extend()
        elif verb == "revocation":
            return ("ok" if self.grants[words[0]].wait_revoke_requested() else "over"), {}
        elif verb == "contenders":
            self.found[words[0]] = self.locks[words[0]].contenders()
            return "ok", {"contenders": described(self.found[words[0]])}
        elif verb == "revoke":
            self.locks[words[0]].revoke(self.found[words[0]][int(words[1])])
        elif verb == "break":
            self.locks[words[0]].break_contender(self.found[words[0]][int(words[1])])
        elif verb == "control":
            control(words[0], self.clients[words[1]], words[2])
        elif verb == "close":
            self.clients[words[0]].close()
        elif verb == "reset":
            for each in self.clients.values():
                each.close()
            self.__init__()  # type: ignore[misc]
        else:
            return "no-such-command", {}
        return "ok", {}

    def held(self, name: str) -> Any:
        """The claim with that name, or the grant."""
        return self.operations.claims.get(name) or self.grants[name]

    def acquire(self, name: str, lock: fencepost.Lock, **wait: Any) -> tuple[str, dict[str, Any]]:
        """Acquires a lock, and stores the grant under that name."""
        grant = lock.acquire(wait.get("timeout"), blocking=wait["blocking"])
        if grant is None:
            return "not-acquired", {}
        self.grants[name] = grant
        return "granted", {"fence": str(grant.fence)}


def main() -> None:
    """Runs commands until the end of the input."""
    peer = Peer()
    for line in sys.stdin:
        threading.Thread(target=peer.answer, args=[parse(line)], daemon=True).start()
    peer.do("reset", [], {})
    os._exit(0)  # Threads may still wait.


if __name__ == "__main__":
    main()
