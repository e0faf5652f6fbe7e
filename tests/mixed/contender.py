"""The contender in Python: see README.md."""

from __future__ import annotations

import json
import socket
import sys

import fencepost


def main() -> None:
    """Acquires, increments and releases, as often as the arguments say."""
    url, name, rounds, host, port, *ttl = sys.argv[1:]
    done = stale = lost = 0
    with socket.create_connection((host, int(port))) as connection, fencepost.connect(url) as client:
        counter = connection.makefile("rw")

        def ask(line: str) -> str:
            counter.write(line + "\n")
            counter.flush()
            return counter.readline().strip()

        lock = client.lock(name, **({"ttl": int(ttl[0]) / 1000} if ttl else {}))
        while done < int(rounds):
            try:
                with lock as grant:
                    value = ask(f"read {grant.fence}")
                    if value == "stale" or ask(f"write {grant.fence} {int(value) + 1}") == "stale":
                        stale += 1
                    else:
                        done += 1
            except fencepost.LockLost:
                lost += 1
    print(json.dumps({"done": done, "stale": stale, "lost": lost}))


if __name__ == "__main__":
    main()
