"""The calls of grants in the client for asyncio. Each call starts work in the engine, and waits for its
result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from .._client.arguments import Duration, micros
from .._client.noncopyable import Noncopyable
from .._engine.claim import ClaimContender
from .._engine.closing import CONFIRM_WITHIN, unconfirmed
from .._engine.contender import Contender, State, Until, answered, decided, over, turned
from .._engine.loop_engine import LoopEngine
from .._engine.loop_timer import within
from .._fencepost import Settings
from ..hub._clock import now
from ._connect import AsyncDriver

Asking = TypeVar("Asking", bound=Contender)
Given = TypeVar("Given")


def rest(wait: int | bool, begun: int) -> int | bool:
    """The remaining acquire timeout. The loop stood still for too long, and the engine has released the
    grant. So the call queues again, or tries once more if the time is up.
    """
    if isinstance(wait, bool):
        return wait
    left = wait - (now() - begun)
    return left if left > 0 else False


class Calls(Noncopyable):
    """The part of a client that its locks and grants use. They keep the client alive."""

    _engine: LoopEngine
    _driver: AsyncDriver

    async def _release(self, contender: Contender) -> None:
        engine = self._engine
        engine.check_held(contender)
        engine.release(contender, False)
        if not await self._wait(contender, over, CONFIRM_WITHIN):
            raise unconfirmed(contender)
        if contender.state is not State.RELEASED:
            raise contender.error()

    async def _downgrade(self, contender: Contender) -> None:
        engine = self._engine
        engine.check_held(contender)
        engine.downgrade(contender, False)
        await self._wait(contender, turned)
        error = contender.why_not_downgraded()
        if error is not None:
            raise error

    async def _extend(self, contender: Contender) -> None:
        engine = self._engine
        engine.check_held(contender)
        before = contender.extended
        engine.extend(contender, False)
        await self._wait(
            contender, lambda contender: contender.extended != before or contender.state is not State.HELD
        )
        if contender.state is not State.HELD:
            raise engine.why_not_held(contender)

    async def _ask(
        self, contender: Asking, checked: Settings, wait: int | bool, make: Callable[[Asking], Given]
    ) -> Given:
        """Waits until the server has decided, and returns the result of ``make``, which raises after a
        refusal.
        """
        engine = self._engine
        engine.check()
        try:
            engine.enter(contender, checked, wait, False)
            await self._wait(contender, decided)
            engine.take(contender)
            return make(contender)
        except BaseException:
            engine.abandon(contender)
            raise

    async def _complete(self, contender: ClaimContender, tag: str, result: bytes) -> None:
        engine = self._engine
        engine.check_end(contender)
        engine.end(contender, False, engine.hub.complete, tag, result)
        await self._wait(contender, answered)
        contender.assert_ended(State.COMPLETED, State.REPLAYED)

    async def _give_up(self, contender: ClaimContender, leaves: bool) -> None:
        """Ends a claim without a result: leaves it, or releases it."""
        engine = self._engine
        engine.check_end(contender)
        engine.end(contender, False, engine.hub.leave if leaves else engine.hub.release)
        if not await self._wait(contender, answered, CONFIRM_WITHIN):
            raise unconfirmed(contender)
        contender.assert_ended(State.RELEASED)

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
        """Waits until the condition is true. Returns False if the time is up."""
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
