"""A command line client of the control port."""

from __future__ import annotations

import json
import os
import socket

from .fleet import PREFIX
from .wire import split_address

VARIABLE = PREFIX + "SERVERS"


def do(words: list[str]) -> int:
    """Sends one command, prints the reply, and returns 0 if `ok` is true."""
    answer = ask(" ".join(words))
    print(answer, flush=True)
    return 0 if json.loads(answer)["ok"] else 1


def ask(command: str) -> str:
    """Sends a command, and returns the line of JSON with the reply."""
    address = os.environ.get(VARIABLE)
    if not address:
        return failure(f"{VARIABLE} is not set; run this inside `python3 tests/servers run -- CMD`")
    if "\n" in command:
        return failure("a command is one line")
    try:
        with socket.create_connection(split_address(address)) as connection:
            connection.sendall(command.encode() + b"\n")
            with connection.makefile(encoding="utf-8") as lines:
                answer = lines.readline().strip()
    except (OSError, ValueError) as error:
        return failure(f"{VARIABLE}={address}: {error}")
    return answer or failure(f"{VARIABLE}={address}: the connection was closed")


def failure(message: str) -> str:
    """A reply by this program, in the form of the control port."""
    return json.dumps({"ok": False, "error": message})
