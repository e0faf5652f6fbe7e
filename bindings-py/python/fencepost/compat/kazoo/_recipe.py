"""The common part of kazoo's lock and semaphore. An object has one holder, and any thread may use it. One
deadline limits the whole wait of an acquire. A cancel ends the acquire that waits, and no later one.
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

from ..._client.arguments import check, micros, settings
from ..._client.base_grant import note
from ..._engine.contender import Contender, State
from ..._fencepost import Event, Settings
from ...errors import FencepostError, LockLost, MisuseError, MixedLayoutsWarning, ReleaseUnconfirmed
from ._bridge import Bridge, translated

_LONGEST = 365 * 24 * 3600.0


class RecipeContender(Contender):
    """A contender of a recipe. Other threads that use the same object may also wait until the connection is
    restored.
    """

    __slots__ = ("thread",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.thread = threading.get_ident()
        """The thread that acquires with it."""

    def handle_event(self, event: Event, cause: BaseException | None) -> bool:
        """See Contender."""
        return super().handle_event(event, cause) or event.name == "resumed"


class Recipe:
    """A recipe that a thread acquires and releases."""

    _KIND = "lock"
    _NODE_NAME = ""
    _REACQUIRED = False
    """Whether an acquire succeeds at once if the object already holds a lease."""

    client: Any
    path: str
    data: bytes
    """The data of the contender's node: the identifier."""
    cancelled: bool
    """Whether a thread has cancelled since the last acquire began."""

    def __init__(self, client: Any, path: str, identifier: object) -> None:
        self.client = client
        self.path = path
        self.data = str(identifier or "").encode()
        self.cancelled = False
        self.create_tried = False
        self.assured_path = False
        self.wake_event = client.handler.event_object()
        """An event that is set by a cancel, by a loss of the lock, and by a loss of the connection."""
        self.lost: threading.Event = client.handler.event_object()
        """An event that kazoo does not have. It is set when the lock is lost: it ends without a release."""
        self._unused = uuid.uuid4().hex
        self._changed = threading.Condition()
        self._acquiring: Contender | None = None
        self._cancels = 0
        self._contender: Contender | None = None
        self._bridge: Bridge | None = None
        """The bridge of that contender. A KazooClient that was stopped and started has a new bridge."""
        self._latest: Contender | None = None
        """The contender whose loss sets the events."""
        self._checked: tuple[bytes, Settings] | None = None
        self._settings()

    # The attributes of kazoo's classes.

    @property
    def is_acquired(self) -> bool:
        """Whether this object holds a valid lock. It is False as soon as the connection or the session is
        lost; kazoo's stays True.
        """
        contender = self._contender
        return contender is not None and contender.is_valid()

    @property
    def fence(self) -> int | None:
        """The number of the grant, which kazoo does not have. It grows with every exclusive grant: send it to
        the resource with every request.
        """
        contender = self._contender
        return contender.fence if contender is not None and contender.state is State.HELD else None

    @property
    def node(self) -> str | None:
        """The name of the contender's node. None if there is none."""
        contender = self._contender
        if contender is None or contender.state not in (State.WAITING, State.HELD):
            return None
        if contender.node is None and contender.attempt:
            # The create had no reply, and the client found the node later.
            hex = contender.attempt.replace("-", "")
            names = [child for child in self.client.get_children(self.path) if child.startswith(hex)]
            contender.node = f"{self.path}/{names[0]}" if names else None
        return None if contender.node is None else contender.node.rpartition("/")[2]

    @property
    def prefix(self) -> str:
        """The beginning of the node's name. Each acquire has a new one; kazoo's stays the same."""
        node = self.node
        return (self._unused if node is None else node[:32]) + self._NODE_NAME

    @property
    def create_path(self) -> str:
        """The path of the node, without the server's number."""
        return f"{self.path}/{self.prefix}"

    # The methods of kazoo's classes.

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Waits until this object holds the lock."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Ends the acquire that waits: it raises CancelledError. The next acquire is not affected."""
        with self._changed:
            self.cancelled = True
            self._cancels += 1
            contender, bridge = self._contender, self._bridge
            self._changed.notify_all()
        self.wake_event.set()
        if contender is not None and bridge is not None:
            bridge.cancel(contender)

    def release(self) -> bool:
        """Releases the lock, and returns True when the server has confirmed it. Returns False if this object
        does not hold the lock.

        Raises ConnectionLoss if the server does not reply within 5 seconds. Then the client continues the
        release in the background.
        """
        contender, bridge = self._contender, self._bridge
        if contender is None or bridge is None:
            return False
        try:
            if contender.state is not State.HELD:
                return False
            bridge.give_back(contender)
        except (LockLost, MisuseError):  # Another thread has released it first, or the client was stopped.
            return False
        except ReleaseUnconfirmed as error:
            raise ConnectionLoss(str(error)) from error
        except FencepostError as error:
            raise translated(error, False) from error
        except BaseException:
            self._give_up(contender)
            raise
        return True

    def _give_up(self, contender: Contender) -> None:
        """Ends an interrupted acquire or release, in any state. The client deletes its node."""
        bridge = self._bridge
        try:
            if bridge is not None:
                bridge.abandon(contender)
        finally:
            with self._changed:
                if self._acquiring is contender:
                    self._acquiring = None
                if self._contender is contender:
                    self._contender = None
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
        mine = RecipeContender(self.path)
        try:
            return self._acquire_with(mine, blocking, timeout, end, seen)
        except BaseException:
            self._give_up(mine)
            raise

    def _acquire_with(
        self, mine: Contender, blocking: bool, timeout: float | None, end: float | None, seen: int
    ) -> bool:
        try:
            answer = self._turn(mine, blocking, timeout, end, seen)
            if answer is not None:
                return answer
            self.create_tried = self.assured_path = True
            return self._contend(mine, blocking, timeout, end, lambda: self._cancels != seen)
        finally:
            with self._changed:
                if self._acquiring is mine:
                    self._acquiring = None
                    if mine.state is not State.HELD:
                        self._contender = None
                    self._changed.notify_all()

    def _turn(
        self, mine: Contender, blocking: bool, timeout: float | None, end: float | None, seen: int
    ) -> bool | None:
        """Waits until no other thread acquires with this object, and the object neither holds nor releases.
        Returns None if this thread may contend then, and otherwise the result of its acquire.
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
                    self._acquiring = self._contender = mine
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
            # The thread that releases may have stopped waiting, so this thread waits for the contender
            # itself.
            bridge.watch(contender, settled, left)

    def _contend(
        self,
        contender: Contender,
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
            contender.on_loss.append(lambda: self._on_loss(contender))
            with self._changed:
                before, self._latest = self._latest, contender
                if before is not None and before.state is State.LOST:
                    # The engine may report the old loss later, when it would look like a loss of the new
                    # grant.
                    self.lost.set()
                    self.wake_event.set()
                self.lost.clear()
                self.wake_event.clear()
            bridge.contend(contender, self._settings(), wait, is_cancelled)
            self._warn(contender)
            if contender.state is State.HELD:
                return True
            raise contender.error()
        except FencepostError as error:
            if error.name == "not-available" and not blocking:
                return False
            raised = translated(error, timeout is not None)
            if isinstance(raised, LockTimeout):
                raise LockTimeout(self._late(timeout)) from error
            if isinstance(raised, CancelledError):
                self.cancelled = False
            raise raised from error

    def _late(self, timeout: float | None) -> str:
        return f"Failed to acquire lock on {self.path} after {timeout} seconds"

    def _settings(self) -> Settings:
        if self._checked is None or self._checked[0] != self.data:
            identifier = self.data.decode(errors="surrogateescape")
            options = {"layout": "kazoo", "identifier": identifier, **self._options()}
            # As in kazoo, `line`, `/line/` and `//line` are one path.
            name = normpath(self.path.lstrip("/"))
            self._checked = (self.data, check(settings("zookeeper", "", self._KIND, name, options)))
        return self._checked[1]

    def _options(self) -> dict[str, object]:
        return {}

    def _expects(self, foreign: str) -> bool:
        return False

    def _warn(self, contender: Contender) -> None:
        if contender.mixed_layouts is not None and not self._expects(contender.mixed_layouts):
            foreign = f"{contender.mixed_layouts} is a contender of another layout"
            remedy = "It does not see ours and may get the lock as well: give all processes the same layout"
            warnings.warn(f"{self.path}: {foreign}. {remedy}", MixedLayoutsWarning, 6)

    def _on_loss(self, contender: Contender) -> None:
        with self._changed:
            if self._latest is contender:
                self.lost.set()
                self.wake_event.set()

    def __enter__(self) -> None:
        before = self._contender
        try:
            # A subclass may return False from acquire. Without a grant, the body must not run.
            if not self.acquire():
                raise LockTimeout(f"Failed to acquire lock on {self.path}")
        except BaseException:
            contender = self._contender
            if contender is not None and contender is not before and _is_mine(contender):
                self._give_up(contender)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.release()
        except Exception as failure:
            # The body's own exception is more important: the failure becomes a note on it.
            if error is None:
                raise
            note(error, failure)


def _is_mine(contender: Contender) -> bool:
    """Whether this thread acquires, or has acquired, with it."""
    return isinstance(contender, RecipeContender) and contender.thread == threading.get_ident()


def identifiers(client: Any, path: str, nodes: list[str], holders: int | None = None) -> list[str]:
    """The identifiers in these nodes, or in the ``holders`` oldest of them. It reads all nodes at once; kazoo
    reads one after the other.
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
