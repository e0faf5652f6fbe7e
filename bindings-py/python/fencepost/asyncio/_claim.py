"""The claims of the client for asyncio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any

from .._client.base_claim import BaseClaim
from .._client.base_grant import note
from .._client.codec import Codec
from .._client.noncopyable import Noncopyable
from .._client.operations import Operations
from .._engine.claim import ClaimContender
from .._engine.contender import State
from ..errors import FencepostError, MisuseError
from ._calls import Calls
from ._grant import Hold


class Claim(Hold, BaseClaim):
    """The right to run an operation, or its stored result (:attr:`replayed`).

    As an asynchronous context manager: if the block ends without completing or releasing the claim, for
    example by a cancellation, the client leaves the operation. The outcome is unknown then, and the policy of
    the operation decides what the next claim gets. A loss does not cancel the block, because it may still
    complete the operation: see :attr:`lost`.
    """

    __slots__ = ("_codec", "_key", "_operations")

    def __init__(
        self, client: Calls, contender: ClaimContender, operations: Operations, key: str, codec: Codec
    ) -> None:
        super().__init__(client, contender)
        self._operations = operations
        self._key = key
        self._codec = codec

    async def complete(self, value: object) -> None:
        """Stores the result of the operation. Returns when the server has stored it.

        If another attempt has stored a result, the claim becomes :attr:`replayed`, with that result. Raises
        ConfigError, before the client sends anything, if the codec cannot encode the value; Refused if the
        server refuses the result: the claim continues; ClaimLost if another attempt has taken the operation
        over, or if no server replies for a whole lease. After ClaimLost you may complete the claim again: the
        server decides.
        """
        await self._complete(self._codec.tag, self._codec.to_bytes(self.name, value))

    async def release(self) -> None:
        """Reports that the operation had no effect: another attempt may claim it. Returns when the server has
        confirmed the release. Raises ClaimLost, Refused, MisuseError (``not-held``) and ReleaseUnconfirmed,
        as a grant does.
        """
        await self._client._give_up(self._claimed, leaves=False)

    async def leave(self) -> None:
        """Reports that the outcome is unknown. The lease ends, and the policy decides what the next claim
        gets. Raises the same errors as :meth:`release`.
        """
        await self._client._give_up(self._claimed, leaves=True)

    async def _complete(self, tag: str, result: bytes) -> None:
        await self._client._complete(self._claimed, tag, result)

    async def __aenter__(self) -> Claim:
        self._engine.check()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._engine.check_process()
            state = self._contender.state
            if state is State.HELD:
                await self.leave()
            elif state is State.LOST:
                self._engine.orphan(self._contender)
                raise self._contender.error()
        except FencepostError as failure:
            # The body's own exception is more important: the failure becomes a note on it.
            if error is None:
                raise
            note(error, failure, "claim")


class Claiming(Noncopyable):
    """A claim that has not begun. Use it with ``async with`` or ``await``. Make one for each block."""

    __slots__ = ("_begin", "_claim")

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, Claim]]) -> None:
        self._begin = begin
        self._claim: Claim | None = None

    def __await__(self) -> Generator[Any, None, Claim]:
        return self._begin().__await__()

    async def __aenter__(self) -> Claim:
        if self._claim is not None:
            raise MisuseError("this claim already has a block: call claim() for each block", 204, "busy")
        self._claim = await self._begin()
        return self._claim

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._claim is not None, "the block was entered"
        await self._claim.__aexit__(kind, error, trace)
