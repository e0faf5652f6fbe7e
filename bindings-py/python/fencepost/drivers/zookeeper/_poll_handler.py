"""A handler for KazooClient that waits for its sockets with poll."""

from __future__ import annotations

import select
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler


class PollHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """A handler that waits with poll. Kazoo's own handler makes, fills and closes an epoll object for each
    wait, and a request needs five waits.

    With ``KazooClient(handler=PollHandler())`` a request takes about two thirds of the time.
    :func:`fencepost.connect` uses this handler.
    """

    if hasattr(select, "poll"):

        def select(
            self, readers: Any, writers: Any, errors: Any, timeout: float | None = None
        ) -> tuple[list[Any], list[Any], list[Any]]:
            """Like :func:`select.select`."""
            poll = select.poll()
            sockets: dict[int, Any] = {}
            writing: set[int] = set()
            for each in readers:
                descriptor = each if isinstance(each, int) else each.fileno()
                sockets[descriptor] = each
                poll.register(descriptor, select.POLLIN)
            for each in writers:
                descriptor = each if isinstance(each, int) else each.fileno()
                sockets[descriptor] = each
                writing.add(descriptor)
                poll.register(descriptor, select.POLLOUT)
            # Rounded up: a wait that ends too early would only be repeated.
            millis = None if timeout is None else max(0, -int(-timeout * 1000 // 1))
            ready: list[Any] = []
            writable: list[Any] = []
            for descriptor, _ in poll.poll(millis):
                (writable if descriptor in writing else ready).append(sockets[descriptor])
            return ready, writable, []
