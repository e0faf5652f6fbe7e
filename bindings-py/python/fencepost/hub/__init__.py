"""The hub: all machines on one connection, without I/O, for programs that have their own event loop.

The hub does no I/O, reads no clock and draws no random number. The program reports inputs to the hub, and
gets commands and events from it::

    from fencepost.hub import Command, Event, Hub, Settings, Wait, now

    hub = Hub("redis", seed=random.getrandbits(32))
    settings = Settings('{"kind": "redis-string", "name": "stock/42", "ttl": 10000000}')
    key = hub.open(now(), settings, os.urandom(16), random.getrandbits(32))   # one contender
    hub.acquire(now(), key)

    while True:
        match hub.poll_output():
            case Command(id=id, operation="call", arguments=arguments):   # carry it out, report the outcome
                try:
                    hub.reply(now(), id, server.execute(*arguments))
                except ConnectionError:
                    hub.failed(now(), id, "unknown")
            case Event(name="acquired", fence=fence):
                ...
            case Wait(until=until):                                       # wait for an input, or until then
                sleep_until(until)
                hub.handle_timeout(now())

All times are microseconds as :func:`now` returns them. ``docs/reference/drivers.md`` describes what a driver
does for each operation, and what it must never do. ``examples/hub_loop.py`` is a complete program.
"""

from __future__ import annotations

from .._fencepost import (
    Address,
    Command,
    Event,
    Hub,
    MemoryMessage,
    MemoryNode,
    MemoryServer,
    MemorySession,
    Record,
    Scope,
    Settings,
    Wait,
    handshake_timeout,
    is_from_replica,
)
from ._clock import now

__all__ = [
    "Address",
    "Command",
    "Event",
    "Hub",
    "MemoryMessage",
    "MemoryNode",
    "MemoryServer",
    "MemorySession",
    "Record",
    "Scope",
    "Settings",
    "Wait",
    "handshake_timeout",
    "is_from_replica",
    "now",
]
