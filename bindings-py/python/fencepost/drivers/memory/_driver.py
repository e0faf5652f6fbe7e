"""``memory:`` and ``memory:NAME``: a server inside the process. Its hubs carry out their own commands."""

from __future__ import annotations

import os
import threading
from weakref import WeakValueDictionary

from ..._engine.contender import Contender
from ..._engine.driver import EnginePort
from ..._fencepost import Command, Hub, MemoryServer
from ...hub._clock import now


class SharedServer:
    """A server, and the engines of its hubs."""

    def __init__(self) -> None:
        self.server = MemoryServer()
        self.engines: dict[int, EnginePort] = {}

    def wake(self) -> None:
        """Polls the engines whose hubs have new outputs, and ends those whose loops were closed. Called
        outside of every critical section.
        """
        for id in self.server.take_woken():
            engine = self.engines.get(id)
            if engine is not None:
                engine.poll()
        for engine in list(self.engines.values()):
            engine.end_if_stranded()


_named: WeakValueDictionary[str, SharedServer] = WeakValueDictionary()
_naming = threading.Lock()


def _begin_anew() -> None:
    """Called in a forked process. The servers and their sessions belong to the parent, and the sessions would
    never end here. Another thread of the parent may have held the lock.
    """
    global _named, _naming
    _named, _naming = WeakValueDictionary(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def shared(name: str) -> SharedServer:
    """The server of that name in this process. For an empty name, it returns a new server each time."""
    if not name:
        return SharedServer()
    with _naming:
        server = _named.get(name)
        if server is None:
            _named[name] = server = SharedServer()
        return server


class MemoryDriver:
    """A session on a server inside the process. Its hub outputs no commands. The driver only calls the
    engines of other sessions when their hubs have new outputs.
    """

    inline = False
    needs_thread = False

    def __init__(
        self, server: SharedServer, address: str = "memory:", session_timeout: int | None = None
    ) -> None:
        self.shared = server
        self._address = address
        self.hub: Hub = server.server.connect(now(), int.from_bytes(os.urandom(8), "big"), session_timeout)

    def start(self, engine: EnginePort) -> None:
        """See Driver."""
        engine.connected()
        self.shared.engines[self.hub.id] = engine

    def submit(self, command: Command) -> None:
        """See Driver."""
        raise AssertionError(f"a hub in memory has output the command {command}")

    def carry_out(self, command: Command, contender: Contender) -> None:
        """See Driver."""
        self.submit(command)

    def after(self) -> None:
        """See Driver."""
        self.shared.wake()

    def forget(self, key: int) -> None:
        """See Driver."""

    def describe(self) -> str:
        """The address."""
        return self._address

    def close(self, within: float) -> None:
        """Ends the session."""
        self.shared.engines.pop(self.hub.id, None)
        self.hub.disconnect(now())
        self.after()
