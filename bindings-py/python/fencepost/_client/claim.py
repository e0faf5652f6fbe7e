"""The claims of the client for threads."""

from __future__ import annotations

from .._engine.claim import ClaimContender
from .._engine.contender import State
from ..errors import FencepostError
from .base_claim import BaseClaim
from .base_grant import note
from .calls import Calls
from .codec import Codec
from .grant import Hold
from .operations import Operations


class Claim(Hold, BaseClaim):
    """The right to run an operation, or its stored result (:attr:`replayed`).

    As a context manager: if the block ends without completing or releasing the claim, the client leaves the
    operation. The outcome is unknown then, and the policy of the operation decides what the next claim gets.
    """

    __slots__ = ("_codec", "_key", "_operations")

    def __init__(
        self, client: Calls, contender: ClaimContender, operations: Operations, key: str, codec: Codec
    ) -> None:
        super().__init__(client, contender)
        self._operations = operations
        self._key = key
        self._codec = codec

    def complete(self, value: object) -> None:
        """Stores the result of the operation. Returns when the server has stored it.

        If another attempt has stored a result, the claim becomes :attr:`replayed`, with that result. Raises
        ConfigError, before the client sends anything, if the codec cannot encode the value; Refused if the
        server refuses the result: the claim continues; ClaimLost if another attempt has taken the operation
        over, or if no server replies for a whole lease. After ClaimLost you may complete the claim again: the
        server decides.
        """
        self._complete(self._codec.tag, self._codec.to_bytes(self.name, value))

    def release(self) -> None:
        """Reports that the operation had no effect: another attempt may claim it. Returns when the server has
        confirmed the release. Raises ClaimLost, Refused, MisuseError (``not-held``) and ReleaseUnconfirmed,
        as a grant does.
        """
        self._client._give_up(self._claimed, leaves=False)

    def leave(self) -> None:
        """Reports that the outcome is unknown. The lease ends, and the policy decides what the next claim
        gets. Raises the same errors as :meth:`release`.
        """
        self._client._give_up(self._claimed, leaves=True)

    def _complete(self, tag: str, result: bytes) -> None:
        self._client._complete(self._claimed, tag, result)

    def __enter__(self) -> Claim:
        self._engine.check()
        return self

    def _leave(self, error: BaseException | None) -> None:
        try:
            self._engine.check_process()
            state = self._contender.state
            if state is State.HELD:
                self.leave()
            elif state is State.LOST:
                self._engine.orphan(self._contender)
                raise self._contender.error()
        except FencepostError as failure:
            # The body's own exception is more important: the failure becomes a note on it.
            if error is None:
                raise
            note(error, failure, "claim")
