"""Acquires kazoo's locks on command, see ../README.md. usage: kazoo_peer.py HOSTS SESSION_MS"""

from __future__ import annotations

import sys

import kazoo.version  # type: ignore[import-untyped]
from kazoo.client import KazooClient  # type: ignore[import-untyped]
from kazoo_recipes import Recipes
from steered import end, obey_until_the_end, say

CONNECT_SECONDS = 20


def main() -> None:
    """Runs commands until the end."""
    hosts, session = sys.argv[1:]
    client = KazooClient(hosts=hosts, timeout=int(session) / 1000)
    client.add_listener(lambda state: say({"event": "state", "state": state.lower()}))
    client.start(CONNECT_SECONDS)
    say({"answer": "ready", "ok": True, "peer": "kazoo", "version": kazoo.version.__version__})
    obey_until_the_end(Recipes(client))
    client.stop()
    client.close()
    end()


if __name__ == "__main__":
    main()
