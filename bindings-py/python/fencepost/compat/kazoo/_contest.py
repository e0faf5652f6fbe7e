"""What kazoo's lock and semaphore have in common: one holder for each object, any thread, one deadline for
all waiting, a cancel that ends the acquire that waits and no other.
"""

from __future__ import annotations

import threading
import time
import uuid
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

from kazoo.exceptions import CancelledError, ConnectionLoss, LockTimeout, NoNodeError
from kazoo.protocol.paths import normpath

from ..._contender import Contender, Hold, State
from ..._engine import log
from ..._fencepost import Event, Settings
from ..._values import micros, settings
from ...errors import FencepostError, LockLost, MisuseError, MixedLayoutsWarning, ReleaseUnconfirmed
from ._bridge import Bridge, translated

_LONGEST = 365 * 24 * 3600.0


class Entrant(Contender):
    """A contender whose object's other threads wait for the end of a suspension, too."""

    __slots__ = ("thread",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.thread = threading.get_ident()
        """Which thread acquires with it."""

    def tell(self, event: Event, cause: BaseException | None) -> bool:
        """Takes an event in; whether somebody may have waited for it."""
        return super().tell(event, cause) or event.name == "resumed"


class Contest:
    """A recipe that is acquired and released."""

    _KIND = "lock"
    _NODE_NAME = ""
    _REACQUIRED = False
    """Whether an acquire is content with what the object holds already."""

    client: Any
    path: str
    data: bytes
    """What the contender's node says."""
    cancelled: bool
    """Whether an acquire was cancelled since the last one began."""

    def __init__(self, client: Any, path: str, identifier: object) -> None:
        self.client = client
        self.path = path
        self.data = str(identifier or "").encode()
        self.cancelled = False
        self.create_tried = False
        self.assured_path = False
        self.wake_event = client.handler.event_object()
        """Set by a cancel, by a loss, and when the connection is lost."""
        self.lost: threading.Event = client.handler.event_object()
        """Not in kazoo: set once what was acquired has ended without a release."""
        self._unused = uuid.uuid4().hex
        self._changed = threading.Condition()
        self._acquiring: Hold | None = None
        self._cancels = 0
        self._hold: Hold | None = None
        self._bridge: Bridge | None = None
        """Whose contender the hold has: a client that was stopped and started has another one by then."""
        self._latest: Hold | None = None
        """Whose loss sets the events."""
        self._checked: tuple[bytes, Settings] | None = None
        self._settings()

    @property
    def _contender(self) -> Contender | None:
        hold = self._hold
        return None if hold is None else hold.contender

    # What kazoo's classes tell of themselves.

    @property
    def is_acquired(self) -> bool:
        """Whether it is held for certain: False from the moment on at which the connection or the session is
        lost, which kazoo does not notice.
        """
        contender = self._contender
        return contender is not None and contender.is_valid()

    @property
    def fence(self) -> int | None:
        """Not in kazoo: the number of the grant, which grows with every one. Present it to the resource."""
        contender = self._contender
        return contender.fence if contender is not None and contender.state is State.HELD else None

    @property
    def node(self) -> str | None:
        """The name of the contender's node, while there is one."""
        contender = self._contender
        if contender is None or contender.state not in (State.WAITING, State.HELD):
            return None
        if contender.node is None and contender.attempt:
            # Its create was never answered, and it was found again.
            hex = contender.attempt.replace("-", "")
            names = [child for child in self.client.get_children(self.path) if child.startswith(hex)]
            contender.node = f"{self.path}/{names[0]}" if names else None
        return None if contender.node is None else contender.node.rpartition("/")[2]

    @property
    def prefix(self) -> str:
        """What the node's name begins with. Unlike kazoo's, it is another one with every acquire."""
        node = self.node
        return (self._unused if node is None else node[:32]) + self._NODE_NAME

    @property
    def create_path(self) -> str:
        """The path of the node, without the server's number."""
        return f"{self.path}/{self.prefix}"

    # What they do.

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Waits until it is held."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Ends the acquire that waits, with CancelledError. The next one is not concerned."""
        with self._changed:
            self.cancelled = True
            self._cancels += 1
            contender, bridge = self._contender, self._bridge
            self._changed.notify_all()
        self.wake_event.set()
        if contender is not None and bridge is not None:
            bridge.cancel(contender)

    def release(self) -> bool:
        """Gives it back; returns when the server has confirmed it. False: it was not held.

        Raises ConnectionLoss after 5 seconds without an answer; the release goes on in the background.
        """
        hold, bridge = self._hold, self._bridge
        if hold is None or bridge is None:
            return False
        try:
            if hold.state is not State.HELD:
                return False
            bridge.give_back(hold)
        except LockLost:
            return True
        except MisuseError:  # Another thread was faster, or the client has been stopped.
            return False
        except ReleaseUnconfirmed as error:
            raise ConnectionLoss(str(error)) from error
        except FencepostError as error:
            raise translated(error, False) from error
        except BaseException:
            self._give_up(hold)
            raise
        return True

    def _give_up(self, hold: Hold) -> None:
        """Ends what an interrupted acquire or release has left, in whatever state; the server is cleaned up
        behind it.
        """
        bridge = self._bridge
        try:
            if bridge is not None:
                bridge.abandon(hold)
        finally:
            with self._changed:
                if self._acquiring is hold:
                    self._acquiring = None
                if self._hold is hold:
                    self._hold = None
                self._changed.notify_all()

    def _acquire(self, blocking: bool, timeout: float | None) -> bool:
        if timeout is not None:
            if not blocking:
                raise ValueError("can't specify a timeout for a non-blocking call")
            if timeout < 0:
                raise ValueError("timeout value must be a non-negative number")
            timeout = min(timeout, _LONGEST)
        end = None if timeout is None else time.monotonic() + timeout
        seen = self._cancels
        hold = Hold(Entrant(self.path))
        try:
            return self._acquire_with(hold, blocking, timeout, end, seen)
        except BaseException:
            self._give_up(hold)
            raise

    def _acquire_with(
        self, hold: Hold, blocking: bool, timeout: float | None, end: float | None, seen: int
    ) -> bool:
        try:
            answer = self._turn(hold, blocking, timeout, end, seen)
            if answer is not None:
                return answer
            self.create_tried = self.assured_path = True
            return self._contend(hold, blocking, timeout, end, lambda: self._cancels != seen)
        finally:
            with self._changed:
                if self._acquiring is hold:
                    self._acquiring = None
                    if hold.contender.state is not State.HELD:
                        self._hold = None
                    self._changed.notify_all()

    def _turn(
        self, hold: Hold, blocking: bool, timeout: float | None, end: float | None, seen: int
    ) -> bool | None:
        """Waits until no other thread acquires with this object, and it neither holds nor gives back: None,
        and it is this one's turn. Otherwise the answer to the acquire.
        """

        def settled(contender: Contender) -> bool:
            content = self._REACQUIRED and contender.is_valid()
            return content or contender.is_over or self._cancels != seen

        while True:
            with self._changed:
                if self._cancels != seen:
                    self.cancelled = False
                    raise CancelledError("the acquire was cancelled")
                contender, bridge, busy = self._contender, self._bridge, self._acquiring is not None
                held = contender is not None and contender.state in (State.HELD, State.RELEASING)
                if not busy and not held:
                    self._acquiring = self._hold = hold
                    self.cancelled = False
                    return None
                if self._REACQUIRED and not busy and self.is_acquired:
                    return True
                if not blocking:
                    return False
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    if self._REACQUIRED:
                        raise LockTimeout(self._late(timeout))
                    return False
                if busy or contender is None or bridge is None:
                    self._changed.wait(left)
                    continue
            # Its own thread may have given up waiting for the release, and waits for no suspension's end.
            bridge.watch(contender, settled, left)

    def _contend(
        self,
        hold: Hold,
        blocking: bool,
        timeout: float | None,
        end: float | None,
        is_cancelled: Callable[[], bool],
    ) -> bool:
        wait: int | bool = blocking
        if end is not None:
            left = end - time.monotonic()
            wait = micros("timeout", left) if left > 0 else False
        try:
            self._bridge = bridge = Bridge.of(self.client)
            bridge.recipes.add(self)
            hold.on_loss.append(lambda: self._on_loss(hold))
            with self._changed:
                before, self._latest = self._latest, hold
                if before is not None and before.contender.state is State.LOST:
                    # Told by the engine a moment later, it would be a loss of what is acquired here.
                    self.lost.set()
                    self.wake_event.set()
                self.lost.clear()
                self.wake_event.clear()
            bridge.contend(hold, self._settings(), wait, is_cancelled)
            contender = hold.contender
            self._warn(contender)
            if contender.state is State.HELD:
                return True
            raise contender.error()
        except FencepostError as error:
            if error.name == "not-available" and not blocking:
                return False
            told = translated(error, timeout is not None)
            if isinstance(told, LockTimeout):
                raise LockTimeout(self._late(timeout)) from error
            if isinstance(told, CancelledError):
                self.cancelled = False
            raise told from error

    def _late(self, timeout: float | None) -> str:
        return f"Failed to acquire lock on {self.path} after {timeout} seconds"

    def _settings(self) -> Settings:
        if self._checked is None or self._checked[0] != self.data:
            identifier = self.data.decode(errors="surrogateescape")
            options = {"layout": "kazoo", "identifier": identifier, **self._options()}
            # As kazoo has it: `line`, `/line/` and `//line` are one path.
            name = normpath(self.path.lstrip("/"))
            self._checked = (self.data, settings("zookeeper", "", self._KIND, name, options))
        return self._checked[1]

    def _options(self) -> dict[str, object]:
        return {}

    def _expects(self, stranger: str) -> bool:
        return False

    def _warn(self, contender: Contender) -> None:
        if contender.mixed_layouts is not None and not self._expects(contender.mixed_layouts):
            stranger = f"{contender.mixed_layouts} is a contender of another layout"
            warnings.warn(f"{self.path}: {stranger}, which cannot see ours", MixedLayoutsWarning, 6)

    def _on_loss(self, hold: Hold) -> None:
        event = hold.contender.event
        reason = None if event is None else event.reason
        if reason != "lost-connection-closed":  # Whoever has stopped the client knows.
            log.warning("fencepost: what was held on %s is lost: %s", self.path, reason)
        with self._changed:
            if self._latest is hold:
                self.lost.set()
                self.wake_event.set()

    def __enter__(self) -> None:
        before = self._hold
        try:
            # Whatever a subclass makes of acquire: without a grant there is no body.
            if not self.acquire():
                raise LockTimeout(f"Failed to acquire lock on {self.path}")
        except BaseException:
            hold = self._hold
            if hold is not None and hold is not before and _is_mine(hold):
                self._give_up(hold)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _is_mine(hold: Hold) -> bool:
    """Whether this thread acquires, or has acquired, with it."""
    contender = hold.contender
    return isinstance(contender, Entrant) and contender.thread == threading.get_ident()


def identifiers(client: Any, path: str, nodes: list[str], holders: int | None = None) -> list[str]:
    """The identifiers in these nodes, or in the ``holders`` oldest of them: all are asked at once, where
    kazoo asks one after the other.
    """
    asked = [client.get_async(f"{path}/{node}") for node in nodes]
    found: list[tuple[int, bytes | None]] = []
    for answer in asked:
        try:
            data, stat = answer.get()
        except NoNodeError:
            continue
        found.append((stat.czxid, data))
    if holders is not None:
        found = sorted(found, key=lambda node: node[0])[:holders]
    return [data.decode(errors="replace") for _, data in found if data is not None]
