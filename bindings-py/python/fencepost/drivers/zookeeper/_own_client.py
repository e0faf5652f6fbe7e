"""The KazooClient of a client by address. It connects again after any end of the connection."""

from __future__ import annotations

import logging
import socket
from typing import Any

from kazoo.client import KazooClient
from kazoo.protocol.serialization import Connect
from kazoo.protocol.states import KeeperState
from kazoo.retry import ForceRetryError, KazooRetry

from ..._fencepost import Address, handshake_timeout
from ._poll_handler import PollHandler

# In a program without a logging configuration, kazoo's warnings must not appear on the standard error.
_log = logging.getLogger("fencepost.kazoo")
_log.addHandler(logging.NullHandler())
# Its DEBUG records contain the passwords of sessions, and the nodes' paths, which may contain tokens.
_log.addFilter(lambda record: record.levelno >= logging.INFO)


class OwnClient(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """The KazooClient that the driver makes."""

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
                # For example a reply out of order, after which kazoo would end its thread.
                self._session_callback(KeeperState.CONNECTING)
                raise ForceRetryError("fencepost makes a new connection") from error

        connection._connect_loop = connect_loop_and_survive
        self._tried: tuple[str, int] | None = None
        """The address and port of the server that kazoo tried last."""
        self._silent: tuple[str, int] | None = None
        """The server whose connection the driver ended because it did not reply."""
        self._order_hosts(connection)
        self._bound_handshakes(connection)

    def _order_hosts(self, connection: Any) -> None:
        """Kazoo shuffles the servers for each round of attempts. This puts a silent server last, because
        there is time for only a few attempts.
        """
        expand = connection._expand_client_hosts

        def expand_silent_last() -> list[tuple[str, str, int]]:
            found: list[tuple[str, str, int]] = expand()
            return sorted(found, key=lambda each: each[1:] == self._silent)

        connection._expand_client_hosts = expand_silent_last

    def _bound_handshakes(self, connection: Any) -> None:
        """Kazoo waits a whole session timeout for a server that does not accept a connection, or accepts it
        and does not reply. This shortens the wait.
        """
        invoke, create_connection = connection._invoke, self.handler.create_connection
        timed_out = self.handler.timeout_exception
        failures = 0

        def within(timeout: float) -> float:
            micros = round(self._session_timeout * 1000)
            return min(timeout, handshake_timeout(micros, failures) / 1e6)

        def create_connection_within(*args: Any, timeout: float, **kwargs: Any) -> Any:
            nonlocal failures
            self._tried = kwargs["address"]
            try:
                return create_connection(*args, timeout=within(timeout), **kwargs)
            except timed_out:
                failures += 1
                raise

        def invoke_within(timeout: float, request: Any, xid: int | None = None) -> Any:
            nonlocal failures
            if not isinstance(request, Connect):
                return invoke(timeout, request, xid)
            try:
                answer = invoke(within(timeout), request, xid)
            except timed_out:
                failures += 1
                raise
            failures = 0
            return answer

        self.handler.create_connection = create_connection_within
        connection._invoke = invoke_within

    def change_server(self) -> None:
        """Ends the connection to a server that does not reply. Kazoo connects to another server next. This
        never blocks; any thread may call.
        """
        self._silent = self._tried
        self.abort()

    def abort(self) -> None:
        """Ends the connection at once, also while a thread waits for it."""
        sock = self._connection._socket
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
