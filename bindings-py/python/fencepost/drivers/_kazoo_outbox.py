"""What waits for kazoo's connection thread to write it.

Kazoo's own way to hand a request over writes a byte for each into a pair of sockets that holds a few hundred
of them, and waits when it is full. A caller that holds a lock, or is the thread that empties the pair, would
wait forever. So our requests have a queue of their own, and one byte wakes the thread for all of them.
"""

from __future__ import annotations

import socket
from collections import deque
from typing import Any, Protocol

_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_LAST_XID = 2**31 - 1


class Sendable(Protocol):
    """A request, as kazoo sees it."""

    @property
    def is_stale(self) -> bool:
        """Whether the connection it was meant for is gone."""

    def settle_unsent(self) -> None:
        """It was not sent, and never will be."""


class Outbox:
    """Requests for one KazooClient, in the order in which they go out."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._requests: deque[Sendable] = deque()
        self._rung = False
        """Whether the thread has a byte to read that it has not come to yet."""

    def post(self, request: Sendable) -> None:
        """Adds a request and wakes the thread. Never blocks; any thread may call."""
        self._requests.append(request)
        self.ring()

    def ring(self) -> None:
        """Wakes the thread if there is something to send and it does not know."""
        if self._rung or not self._requests:
            return
        try:
            self._rung = True
            self._client._connection._write_sock.send(b"\0", _AT_ONCE)
        except BlockingIOError:
            pass  # The pair is full of kazoo's own bytes, so the thread turns anyway.
        except (OSError, AttributeError):
            self._rung = False  # There is no connection; its end settles what is left here.
        except BaseException:
            self._rung = False  # Interrupted: the next call rings.
            raise

    def flush(self, timeout: float) -> None:
        """Writes everything. On the connection's thread, which takes an exception for the connection's
        end.
        """
        client, connection = self._client, self._client._connection
        # Before the first look: what is added from here on is seen, or rings again.
        self._rung = False
        while (request := self._next()) is not None:
            if request.is_stale:
                request.settle_unsent()
                continue
            xid = connection._xid = connection._xid % _LAST_XID + 1
            # First, so that it is answered for if the connection ends under it.
            client._pending.append((request, request, xid))
            connection._submit(request, timeout, xid)

    def drop(self) -> None:
        """The connection is gone: nothing of this is sent."""
        self._rung = False
        while (request := self._next()) is not None:
            request.settle_unsent()

    def _next(self) -> Sendable | None:
        try:
            return self._requests.popleft()
        except IndexError:
            return None
