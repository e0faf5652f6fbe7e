"""The replies of real servers under all conditions, in `stories.jsonl`. The Redis model gives the same ones.

`FENCEPOST_RECORD=1` writes the replies of the servers; read the difference.
"""

from __future__ import annotations

import io
import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from servers import LIMIT, ROOT, running, wait_until

STORIES = Path(__file__).resolve().parent / "stories.jsonl"
SCRIPTS = ROOT / "core" / "src" / "redis" / "scripts"

#: The servers, the options of each, and the field of a story with its reply ("older" only if it differs).
SERVERS = {
    "redis-7.0": (["--enable-protected-configs", "local"], "answer"),
    "redis-6.2": ([], "older"),
}

Command = list[str]

#: The commands that begin a condition, and those that end it.
CONDITIONS: dict[str, tuple[list[Command], list[Command]]] = {
    "replica": ([["REPLICAOF", "127.0.0.1", "1"]], [["REPLICAOF", "NO", "ONE"]]),
    "full": ([["CONFIG", "SET", "maxmemory", "1"]], [["CONFIG", "SET", "maxmemory", "0"]]),
    "no-disk": (
        [["CONFIG", "SET", "dir", "/proc"], ["CONFIG", "SET", "save", "3600 1"], ["BGSAVE"]],
        [["CONFIG", "SET", "save", ""]],
    ),
    "few-replicas": (
        [["CONFIG", "SET", "min-replicas-to-write", "1"]],
        [["CONFIG", "SET", "min-replicas-to-write", "0"]],
    ),
    "no-channels": (
        [["ACL", "SETUSER", "default", "resetchannels"]],
        [["ACL", "SETUSER", "default", "allchannels"]],
    ),
}


class Raw:
    """A connection that returns errors unchanged."""

    def __init__(self, stream: io.BufferedRWPair) -> None:
        self.stream = stream

    def ask(self, words: Command) -> Any:
        """Sends a command, and returns its reply."""
        parts = [b"*%d\r\n" % len(words)]
        for word in (word.encode() for word in words):
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.stream.write(b"".join(parts))
        self.stream.flush()
        return self.answer()

    def answer(self) -> Any:
        """The next reply."""
        line = self.stream.readline().decode().rstrip("\r\n")
        kind, rest = line[0], line[1:]
        if kind == ":":
            return int(rest)
        if kind == "-":
            return {"error": normal(rest)}
        if kind == "$" and rest != "-1":
            return self.stream.read(int(rest) + 2)[:-2].decode()
        if kind == "*":
            return [self.answer() for _ in range(int(rest))]
        return rest if kind == "+" else None


def normal(error: str) -> str:
    """An error without the name of the script and the line in it."""
    return re.sub(r"user_script:( ?)\d+", r"user_script:\1N", re.sub(r"[0-9a-f]{40}", "SHA", error))


@contextmanager
def raw(port: int) -> Iterator[Raw]:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as made,
        made.makefile("rwb") as stream,
    ):
        yield Raw(stream)


def texts(words: Command) -> Command:
    """Replaces the names of scripts with their texts."""
    known = {f"@{file.stem}": file.read_text(encoding="utf-8") for file in SCRIPTS.glob("*.lua")}
    return [known.get(word, word) for word in words]


def walk(port: int, lines: list[dict[str, Any]], report: Callable[[dict[str, Any], Any], None]) -> None:
    """Runs the stories; reports every reply with its line."""
    with raw(port) as control:

        def turn(condition: str, begins: bool) -> None:
            for command in CONDITIONS[condition][0 if begins else 1]:
                assert "error" not in str(control.ask(command)), command
            if condition == "no-disk" and begins:
                wait_until(
                    lambda: "rdb_last_bgsave_status:err" in control.ask(["INFO", "persistence"]),
                    "a save failed",
                )

        for line in lines:
            if "story" in line:
                for condition in CONDITIONS:
                    turn(condition, begins=False)
                control.ask(["FLUSHALL"])
            elif "ask" in line:
                # Subscriptions and users' rights belong to a connection.
                with raw(port) as asking:
                    report(line, asking.ask(texts(line["ask"])))
            else:
                turn(str(line.get("condition") or line["over"]), begins="condition" in line)


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_answers_as_the_stories_have_it(kind: str) -> None:
    lines = [json.loads(line) for line in STORIES.read_text(encoding="utf-8").splitlines()]
    settings, field = SERVERS[kind]
    differences = []

    def compare(line: dict[str, Any], answer: Any) -> None:
        if (recorded := line.get(field, line.get("answer"))) != answer:
            differences.append(f"{line['ask']}: {answer!r}, recorded is {recorded!r}")
        line.pop("older", None) if field == "answer" else None
        if field == "answer" or answer != line["answer"]:
            line[field] = answer

    with running(kind, *settings) as server:
        walk(server.port, lines, compare)
    if os.environ.get("FENCEPOST_RECORD"):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        STORIES.write_text(text, encoding="utf-8")
    else:
        assert not differences, "\n".join(differences)
