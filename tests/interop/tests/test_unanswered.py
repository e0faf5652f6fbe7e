"""A server accepts a connection and never replies, as a starting one may do. No client loses a lock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from steer import Peer, Servers, wait_until

#: How many unanswered connections in a row cost no grant. Rust's client library waits for two fifths of the
#: session timeout on each. The Python peer is not here, because it has a second connection for reading nodes:
#: see test_kazoo_own.py.
CLIENTS = [("javascript-curator", 2), ("c-curator", 2), ("c-mt", 2), ("rust-curator", 1)]
SESSION_MS = 10_000


@pytest.fixture
def proxy(servers: Servers) -> Iterator[dict[str, Any]]:
    """A proxy in front of the server."""
    proxy = servers.do("proxy zookeeper")
    yield proxy
    servers.do(f"proxy-close {proxy['id']}")


@pytest.mark.parametrize(("name", "unanswered"), CLIENTS)
def test_an_unanswered_handshake_costs_no_grant(
    servers: Servers, proxy: dict[str, Any], path: str, name: str, unanswered: int
) -> None:
    def connections() -> int:
        return len(servers.do(f"proxy-count {proxy['id']}")["connections"])

    holder = Peer(name, proxy["address"], SESSION_MS)
    try:
        holder.acquire(f"mutex {path}")
        before = connections()
        servers.do(f"proxy-ignore {proxy['id']} {unanswered}")
        servers.do(f"proxy-cut {proxy['id']}")
        servers.do(f"proxy-heal {proxy['id']}")
        wait_until(lambda: connections() > before + unanswered, "a connection that is answered")
        # If the grant had ended meanwhile, the release would report the loss.
        holder.ask("release")
    finally:
        holder.close()
