"""What a client for asyncio does for a grant: each call asks the engine, and waits for the answer."""

from __future__ import annotations

from functools import partial

from .._client.arguments import Duration, micros
from .._client.noncopyable import Noncopyable
from .._engine.closing import CONFIRM_WITHIN
from .._engine.contender import Contender, State, Until, over, turned
from .._engine.loop_engine import LoopEngine
from .._engine.loop_timer import within
from .._engine.wording import shown
from ..errors import ReleaseUnconfirmed
from ._connect import AsyncDriver


class Calls(Noncopyable):
    """The part of a client that its locks and grants need. They keep the client alive."""

    _engine: LoopEngine
    _driver: AsyncDriver

    async def _release(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.release(contender, False)
        if not await self._wait(contender, over, CONFIRM_WITHIN):
            raise ReleaseUnconfirmed(
                f"{shown(contender.name)}: the server has not confirmed the release within "
                f"{CONFIRM_WITHIN:g} s. The client goes on in the background; until the server confirms it, "
                "other clients may wait"
            )
        if contender.state is not State.RELEASED:
            raise contender.error()

    async def _downgrade(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        engine.downgrade(contender, False)
        await self._wait(contender, turned)
        error = contender.why_not_downgraded()
        if error is not None:
            raise error

    async def _extend(self, contender: Contender) -> None:
        engine = self._engine
        if contender.state is not State.LOST:
            engine.check()
        before = contender.extended
        engine.extend(contender, False)
        await self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    async def _wait_revoke_requested(self, contender: Contender, timeout: Duration | None) -> bool:
        limit = None if timeout is None else micros("timeout", timeout) / 1e6
        self._engine.check()
        await self._wait(
            contender,
            lambda contender: contender.revoke_requested or contender.state is not State.HELD,
            limit,
        )
        return contender.revoke_requested

    async def _wait(self, contender: Contender, until: Until, limit: float | None = None) -> bool:
        """Waits until that is true. Gives False if the time is up."""
        engine = self._engine
        loop = engine.loop
        end = None if limit is None else loop.time() + limit
        while True:
            future = loop.create_future()
            with engine.order:
                if until(contender):
                    return True
                contender.waiters.append(partial(engine.settle, future))
            if end is None:
                await future
            elif not await within(future, end - loop.time()):
                return until(contender)
