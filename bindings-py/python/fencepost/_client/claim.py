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
    """The right to run an operation, or the result that it had before (:attr:`replayed`).

    As a context manager it leaves the operation at the end of a block that has neither completed nor released
    it: its outcome is unknown then, and the policy of the operation decides what follows.
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
        """The operation has this result. Returns when the server has stored it.

        If another attempt has stored a result, the claim becomes :attr:`replayed`, with that result. Raises
        ConfigError before anything is sent, if the codec cannot store the value; Refused if the server
        refuses it, and the claim goes on; ClaimLost if another attempt has taken the operation over, or if no
        server answers for a whole lease. After ClaimLost you may complete it again: the server decides.
        """
        self._complete(self._codec.tag, self._codec.to_bytes(self.name, value))

    def release(self) -> None:
        """Nothing has happened: the operation may be claimed anew. Returns when the server has confirmed it.
        Raises ClaimLost, Refused, MisuseError (``not-held``) and ReleaseUnconfirmed, as a grant does.
        """
        self._client._give_up(self._claimed, leaves=False)

    def leave(self) -> None:
        """The outcome is unknown: the lease is over, and the policy decides what follows. Raises the same
        errors as :meth:`release`.
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
