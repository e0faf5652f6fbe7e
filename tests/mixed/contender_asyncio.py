"""The contender in Python on asyncio: see README.md."""

from __future__ import annotations

import asyncio
import json
import sys

import fencepost
import fencepost.asyncio


async def main() -> None:
    """Acquires, increments and releases, as often as the arguments say."""
    url, name, rounds, host, port, *ttl = sys.argv[1:]
    done = stale = lost = 0
    reader, writer = await asyncio.open_connection(host, int(port))

    async def ask(line: str) -> str:
        writer.write(line.encode() + b"\n")
        return (await reader.readline()).decode().strip()

    async with fencepost.asyncio.connect(url) as client:
        lock = client.lock(name, **({"ttl": int(ttl[0]) / 1000} if ttl else {}))
        while done < int(rounds):
            try:
                async with lock as grant:
                    value = await ask(f"read {grant.fence}")
                    if value == "stale" or await ask(f"write {grant.fence} {int(value) + 1}") == "stale":
                        stale += 1
                    else:
                        done += 1
            except fencepost.LockLost:
                lost += 1
    writer.close()
    print(json.dumps({"done": done, "stale": stale, "lost": lost}))


if __name__ == "__main__":
    asyncio.run(main())
