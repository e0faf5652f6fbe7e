"""Runs the commands of its input with Python's client for asyncio: the protocol is in ../README.md."""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from urllib.parse import unquote

import fencepost.asyncio
from asyncio_operations import Operations
from words import Command, control, described, failure, look, make_lock, parse, say


class Peer:
    """The clients, locks and grants, by their names in the commands."""

    def __init__(self) -> None:
        self.clients: dict[str, fencepost.asyncio.Client] = {}
        self.locks: dict[str, fencepost.asyncio.Lock] = {}
        self.grants: dict[str, fencepost.asyncio.Grant] = {}
        self.found: dict[str, list[fencepost.Found]] = {}
        self.operations = Operations(self.clients)
        self.waiting: dict[str, asyncio.Task[None]] = {}

    async def answer(self, command: Command) -> None:
        """Runs a command, and prints its answer."""
        try:
            answer, more = await self.do(command.verb, command.words, dict(command.options))
        except asyncio.CancelledError:
            answer, more = "cancelled", {}
        except Exception as error:
            answer, more = failure(error)
        say(command.number, answer, **more)

    async def do(self, verb: str, words: list[str], options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Runs a command, and returns its answer."""
        if verb == "client":
            self.clients[words[0]] = fencepost.asyncio.connect(unquote(words[1]))
        elif verb == "lock":
            name, client, kind, path = words
            self.locks[name] = make_lock(self.clients[client], kind, path, options)
        elif verb in ("acquire", "try"):
            return await self.acquire(words[0], self.locks[words[1]], blocking=verb == "acquire", **options)
        elif verb == "cancel":
            cancelled = words[0] in self.waiting and self.waiting[words[0]].cancel()
            return ("ok" if cancelled else "not-waiting"), {}
        elif verb in self.operations.does:
            return await self.claiming(verb, words, options)
        elif verb in ("release", "extend", "downgrade"):
            await getattr(self.held(words[0]), verb)()
        elif verb == "look":
            return "ok", look(self.held(words[0]))
        elif verb == "loss":
            await self.held(words[0]).lost.wait()
            await self.held(words[0]).extend()
        elif verb == "revocation":
            return ("ok" if await self.grants[words[0]].wait_revoke_requested() else "over"), {}
        elif verb == "contenders":
            self.found[words[0]] = await self.locks[words[0]].contenders()
            return "ok", {"contenders": described(self.found[words[0]])}
        elif verb == "revoke":
            await self.locks[words[0]].revoke(self.found[words[0]][int(words[1])])
        elif verb == "break":
            await self.locks[words[0]].break_contender(self.found[words[0]][int(words[1])])
        elif verb == "control":
            control(words[0], self.clients[words[1]], words[2])
        elif verb == "close":
            await self.clients[words[0]].close()
        elif verb == "reset":
            for each in self.clients.values():
                await each.close()
            self.__init__()  # type: ignore[misc]
        else:
            return "no-such-command", {}
        return "ok", {}

    def held(self, name: str) -> Any:
        """The claim with that name, or the grant."""
        return self.operations.claims.get(name) or self.grants[name]

    async def claiming(
        self, verb: str, words: list[str], options: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Runs a command on operations. A claim can be cancelled."""
        task = asyncio.current_task()
        assert task is not None
        if verb in ("claim", "consume"):
            self.waiting[words[0]] = task
        try:
            return await self.operations.does[verb](words, options)
        finally:
            if verb in ("claim", "consume"):
                self.waiting.pop(words[0], None)

    async def acquire(
        self, name: str, lock: fencepost.asyncio.Lock, **wait: Any
    ) -> tuple[str, dict[str, Any]]:
        """Acquires a lock, and stores the grant under that name."""
        task = asyncio.current_task()
        assert task is not None
        self.waiting[name] = task
        try:
            grant = await lock.acquire(wait.get("timeout"), blocking=wait["blocking"])
        finally:
            self.waiting.pop(name, None)
        if grant is None:
            return "not-acquired", {}
        self.grants[name] = grant
        return "granted", {"fence": str(grant.fence)}


async def main() -> None:
    """Runs commands until the end of the input."""
    peer = Peer()
    lines = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    tasks: set[asyncio.Task[None]] = set()
    async for line in lines:
        task = asyncio.create_task(peer.answer(parse(line.decode())))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await peer.do("reset", [], {})


if __name__ == "__main__":
    asyncio.run(main())
