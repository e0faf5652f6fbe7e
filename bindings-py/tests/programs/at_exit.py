"""Holds a lock, and releases it in a function of `atexit`. Arguments: URL, name, and the action of that
function: `close` the client, `release` the grant, do nothing (`drop`), or close a client for `asyncio`. With
`finalizer`, a finalizer releases the lock after Python has stopped the threads. With `section`, a thread ends
inside the client's critical section.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import sys
import threading

import fencepost
import fencepost.asyncio

url, name, what = sys.argv[1:]


def in_threads() -> None:
    """The client for threads."""
    client = fencepost.connect(url)
    grant = client.lock(name).acquire(timeout=30)
    assert grant is not None

    def end() -> None:
        if what == "close":
            client.close()
        elif what == "release":
            grant.release()
        print("done", flush=True)

    atexit.register(end)


def in_asyncio() -> None:
    """The client for asyncio."""
    loop = asyncio.new_event_loop()

    async def begin() -> fencepost.asyncio.Client:
        client = fencepost.asyncio.connect(url)
        await client.lock(name).hold(timeout=30).__aenter__()
        return client

    client = loop.run_until_complete(begin())

    def end() -> None:
        loop.run_until_complete(client.close())
        loop.close()
        print("done", flush=True)

    atexit.register(end)


class Shop:
    """Holds the lock as long as it exists."""

    def __init__(self) -> None:
        self.client = fencepost.connect(url)
        self.grant = self.client.lock(name).acquire(timeout=30)

    def __del__(self) -> None:
        assert self.grant is not None
        self.grant.release()


class Connection:
    """Its finalizer closes the client."""

    def __init__(self, client: fencepost.Client) -> None:
        self.client = client

    def __del__(self) -> None:
        self.client.close()


if what == "asyncio":
    in_asyncio()
elif what in ("finalizer", "section"):
    # After a collection between the two, Python would call their finalizers in the other order.
    gc.disable()
    shop = Shop()
    connection = Connection(shop.client)
    if what == "section":
        thread = threading.Thread(target=shop.client._engine.order.acquire)
        thread.start()
        thread.join()
    print("done", flush=True)
else:
    in_threads()
