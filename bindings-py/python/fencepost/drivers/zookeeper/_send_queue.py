"""The queue of requests for kazoo's connection thread.

For each request, kazoo itself writes a byte into a pair of sockets, which holds a few hundred bytes. When the
pair is full, kazoo waits. If the caller holds a lock, or is the thread that empties the pair, it waits for
ever. So fencepost has its own queue, and one byte wakes the thread for all requests in it.
"""

from __future__ import annotations

import socket
from collections import deque
from typing import Any, Protocol

_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_LAST_XID = 2**31 - 1


class Sendable(Protocol):
    """A request. Kazoo sends it."""

    @property
    def is_stale(self) -> bool:
        """Whether the connection for which it was made has ended."""

    def settle_unsent(self) -> None:
        """Reports that the request was not sent and never will be."""


class SendQueue:
    """Requests for one KazooClient, in the order in which kazoo sends them."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._requests: deque[Sendable] = deque()
        self._is_woken = False
        """Whether the pair has a byte that the thread has not read yet."""

    def post(self, request: Sendable) -> None:
        """Adds a request and wakes the thread. Never blocks; any thread may call."""
        self._requests.append(request)
        self.wake()

    def wake(self) -> None:
        """Wakes the thread if there are requests and no byte is in the pair."""
        if self._is_woken or not self._requests:
            return
        try:
            self._is_woken = True
            self._client._connection._write_sock.send(b"\0", _AT_ONCE)
        except BlockingIOError:
            pass  # The pair is full of kazoo's own bytes, so the thread is awake.
        except (OSError, AttributeError):
            self._is_woken = False  # There is no connection. Its end settles the requests in the queue.
        except BaseException:
            self._is_woken = False  # The call was interrupted. The next call writes the byte.
            raise

    def flush(self, timeout: float) -> None:
        """Writes all requests. The connection's thread calls it, and treats an exception as the end of the
        connection.
        """
        client, connection = self._client, self._client._connection
        # Before the loop reads the queue: it finds a later request, or that request wakes the thread again.
        self._is_woken = False
        while (request := self._next()) is not None:
            if request.is_stale:
                request.settle_unsent()
                continue
            xid = connection._xid = connection._xid % _LAST_XID + 1
            # Before the write: if the connection ends meanwhile, kazoo fails the pending requests.
            client._pending.append((request, request, xid))
            connection._submit(request, timeout, xid)

    def drop(self) -> None:
        """The connection has ended. None of these requests is sent."""
        self._is_woken = False
        while (request := self._next()) is not None:
            request.settle_unsent()

    def _next(self) -> Sendable | None:
        try:
            return self._requests.popleft()
        except IndexError:
            return None
