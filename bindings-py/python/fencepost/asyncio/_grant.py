"""The grants of the client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Literal

from .._client.arguments import Duration
from .._client.base_grant import GIVEN_BACK, BaseGrant, BaseHold, note
from .._engine.contender import Contender, State
from .._engine.loop_engine import LoopEngine
from ..errors import FencepostError
from ._calls import Calls


class Hold(BaseHold):
    """The common base of grants and claims in the client for asyncio."""

    __slots__ = ("_client", "_lost")

    def __init__(self, client: Calls, contender: Contender) -> None:
        super().__init__(client._engine, contender)
        self._client = client
        self._lost: asyncio.Event | None = None

    @property
    def lost(self) -> asyncio.Event:
        """An event that the client sets when the grant ends without a release. Call ``grant.lost.is_set()``
        in any thread, and ``await grant.lost.wait()`` on the client's loop.
        """
        self._engine.check_process()
        if self._lost is None:
            self._lost = Lost(self._client._engine)
            self._on_loss(self._lost.set)
        if self._contender.state is State.LOST:
            self._lost.set()
        return self._lost

    async def extend(self) -> None:
        """Renews the lease for its full duration from now on. Returns when the server has confirmed it.
        Raises LockLost, MisuseError.
        """
        await self._client._extend(self._contender)

    def _on_loss(self, callback: Callable[[], object]) -> None:
        with self._engine.order:
            if self._contender.state is not State.LOST:
                self._contender.on_loss.append(callback)
                return
        # Later, as after any other loss: a body's own task could not cancel itself.
        self._client._engine.on_loop(callback)


class Grant(Hold, BaseGrant):
    """The right to hold a lock. As an asynchronous context manager it releases the lock at the end of the
    block.
    """

    __slots__ = ("_body", "_cancels")

    def __init__(self, client: Calls, contender: Contender, cancels: bool) -> None:
        super().__init__(client, contender)
        self._cancels = cancels
        self._body: Body | None = None

    async def wait_revoke_requested(self, timeout: Duration | None = None) -> bool:
        """Waits for a revocation request, and returns True. Returns False if the grant ends or the time is up
        before a request arrives.
        """
        return await self._client._wait_revoke_requested(self._contender, timeout)

    async def downgrade(self) -> None:
        """ZooKeeper: turns a writer's grant into a reader's in one step. Waiting readers get the lock as
        well. Waiting writers get it only after this grant is released, too. The grant keeps its fence.

        If an owner has several grants of the writer, downgrade each of them. Readers get the lock when all
        are downgraded or released. Returns when the server has confirmed it. If a call is cancelled, the
        downgrade continues, and the next call returns its result. Raises LockLost; MisuseError
        (``not-a-writer``) for a reader's grant, for any other kind, and after a call that has succeeded;
        Refused if the server refuses: then the grant is still a writer's.
        """
        await self._client._downgrade(self._contender)

    async def release(self) -> None:
        """Releases the lock. Returns when the server has confirmed it. If an owner has several grants, only
        the release of the last one releases the lock; for the others this returns at once.

        Raises LockLost if the grant was lost before, MisuseError (``not-held``) if it was released before,
        and ReleaseUnconfirmed if the server does not reply within 5 seconds. Then, or if the task is
        cancelled, the client continues the release in the background.
        """
        await self._client._release(self._contender)

    async def __aenter__(self) -> Grant:
        """Enters the block. Raises LockLost if a loss cancels the block, and the grant is lost already."""
        self._engine.check()
        if self._cancels and self._body is None:
            if self._contender.state is State.LOST:
                raise self._contender.error()
            self._body = Body()
            self._on_loss(self._body.lost)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave(error)

    async def _leave(self, error: BaseException | None) -> None:
        """Called at the end of the block, with its exception or None."""
        body, self._body = self._body, None
        if body is not None and await body.end(error):
            raise self._contender.error() from (self._contender.cause or error)
        try:
            self._engine.check_process()
            if self._contender.state not in GIVEN_BACK:
                await self.release()
        except FencepostError as failure:
            # The body's own exception is more important: the failure becomes a note on it.
            if error is None:
                raise
            note(error, failure)


class Lost(asyncio.Event):
    """The event of a loss. Any thread may check whether it is set. Only tasks of the client's loop may wait
    for it.
    """

    def __init__(self, engine: LoopEngine) -> None:
        super().__init__()
        self._engine = engine

    async def wait(self) -> Literal[True]:
        """Waits until it is set. Raises MisuseError (``wrong-loop``) on a loop other than the client's."""
        self._engine.check_loop()
        return await super().wait()


class Body:
    """The body of an ``async with``. A loss cancels it, as ``asyncio.timeout`` cancels its body."""

    __slots__ = ("_before", "_cancelled", "_task")

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._before = _cancelling(self._task)
        self._cancelled = False

    def lost(self) -> None:
        """Cancels the body, unless it has ended. Called on the loop."""
        # If the body's own task calls this, it is closing the client. It gets LockLost at the block's end.
        if self._cancelled or self._task is None:
            return
        if self._task is not asyncio.current_task():
            self._cancelled = True
            self._task.cancel()

    async def end(self, error: BaseException | None) -> bool:
        """Called after the body has ended. Returns whether only this cancellation has ended it."""
        task, self._task = self._task, None
        if task is None or not self._cancelled or task is not asyncio.current_task():
            return False
        uncancel = getattr(task, "uncancel", None)  # Python 3.11
        others = uncancel() > self._before if uncancel is not None else False
        if error is None:
            # The body ended before the cancellation reached it. The code after the block must not get it.
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if others:
                    raise
        return isinstance(error, asyncio.CancelledError) and not others


def _cancelling(task: asyncio.Task[object] | None) -> int:
    cancelling = getattr(task, "cancelling", None)  # Python 3.11
    return 0 if cancelling is None else int(cancelling())
