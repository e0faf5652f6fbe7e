"""Context variables: the work of a client for all tasks does not run with the variables of one task. These
may belong to a request, such as its identifier in the log.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from contextvars import ContextVar

from conftest import AsyncConnect
from support import BRIEF, Backend, wait_until_async


class Request:
    """The value that a web framework keeps in a context variable."""


REQUEST: ContextVar[Request | None] = ContextVar("REQUEST", default=None)


class Seen(logging.Handler):
    """The requests of the records."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.requests: list[Request] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Handles a record."""
        self.texts.append(record.getMessage())
        request = REQUEST.get()
        if request is not None:
            self.requests.append(request)


async def test_a_client_keeps_no_request_and_logs_none(backend: Backend, aconnect: AsyncConnect) -> None:
    seen = Seen()
    log = logging.getLogger("fencepost")
    level = log.level
    log.addHandler(seen)
    log.setLevel(logging.DEBUG)
    try:
        client = aconnect(backend.url)
        requests: list[weakref.ref[Request]] = []

        async def serve(name: str) -> None:
            request = Request()
            requests.append(weakref.ref(request))
            REQUEST.set(request)
            lock = client.lock(name)
            async with lock:
                # A waiter on Redis needs the second connection, and timers.
                assert await lock.acquire(timeout=BRIEF) is None

        await asyncio.gather(*(serve(backend.name(f"stock/{number}")) for number in range(3)))
        await wait_until_async(
            lambda: sum("released" in text for text in seen.texts) == 3, "the releases are in the log"
        )
        assert not seen.requests

        def are_gone() -> bool:
            gc.collect()
            return all(request() is None for request in requests)

        await wait_until_async(are_gone, "the client keeps no request")
    finally:
        log.removeHandler(seen)
        log.setLevel(level)
