"""The KazooClient of a client made by address: it goes on connecting, whatever has ended a connection."""

from __future__ import annotations

import logging
import socket
from typing import Any

from kazoo.client import KazooClient
from kazoo.protocol.states import KeeperState
from kazoo.retry import ForceRetryError, KazooRetry

from .._fencepost import Address
from .kazoo_handler import PollHandler

# A program that has not configured logging is not to read kazoo's warnings on its standard error.
_log = logging.getLogger("fencepost.kazoo")
_log.addHandler(logging.NullHandler())


class OwnClient(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """A client of our own."""

    def __init__(self, address: Address) -> None:
        super().__init__(
            hosts=",".join(address.hosts),
            timeout=(address.session_timeout or 10_000_000) / 1e6,
            handler=PollHandler(),
            connection_retry=KazooRetry(max_tries=-1, delay=0.05, backoff=2, max_delay=0.5),
            logger=_log,
        )
        connection: Any = self._connection
        connect_loop = connection._connect_loop

        def connect_loop_and_survive(retry: Any) -> Any:
            try:
                return connect_loop(retry)
            except ForceRetryError:
                raise
            except Exception as error:
                # An answer that is out of order, for example: kazoo would end its thread.
                self._session_callback(KeeperState.CONNECTING)
                raise ForceRetryError("fencepost makes a new connection") from error

        connection._connect_loop = connect_loop_and_survive

    def abort(self) -> None:
        """Ends the connection under whatever waits for it."""
        sock = self._connection._socket
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
