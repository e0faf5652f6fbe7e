"""The part of a claim that is the same in both clients: everything that does not wait."""

from __future__ import annotations

from typing import Any

from .._engine.claim import ClaimContender
from .._engine.contender import Contender, State
from .._engine.record import Record
from .._engine.wording import shown
from ..errors import MisuseError
from .base_grant import BaseHold
from .codec import Codec
from .operations import Operations


class BaseClaim(BaseHold):
    """The right to run an operation, or its stored result. Any thread or task may use it."""

    __slots__ = ()

    _codec: Codec
    _key: str
    _operations: Operations

    @property
    def takeovers(self) -> int:
        """The number of takeovers of the operation before this claim. The operation may have run that many
        times.
        """
        return self._claimed.takeovers

    @property
    def replayed(self) -> bool:
        """Whether another attempt has stored the result. Then there is nothing to run."""
        return self._contender.state is State.REPLAYED

    @property
    def result(self) -> Any:
        """The operation's result: the replayed one, or that of this claim's completion.

        Raises StoredError if the stored result is an error; Refused (``corrupt-record``) if this codec cannot
        decode it; MisuseError (``no-result``) if there is no result yet.
        """
        return self._codec.value_of(self.name, self._stored)

    @property
    def tag(self) -> str:
        """The tag of the result's codec. Raises MisuseError (``no-result``) if there is no result."""
        return self._stored.tag

    def derive(self, step: str) -> str:
        """A key for one step of the operation at another service, such as a payment provider. It is the same
        for all attempts and in all languages, so the service can detect that it has already done the step.
        """
        return self._operations.derive(self._key, step)

    @property
    def _claimed(self) -> ClaimContender:
        contender = self._contender
        assert isinstance(contender, ClaimContender)
        return contender

    @property
    def _stored(self) -> Record:
        contender = self._contender
        if contender.state in (State.COMPLETED, State.REPLAYED) and contender.event is not None:
            record = Record.of(contender.event.record)
            if record is not None:
                return record
        raise MisuseError(f"{shown(self.name)}: there is no result yet: complete the claim", 544, "no-result")

    def _has_ended(self, contender: Contender) -> bool:
        # After a loss, the program may still complete, leave or release the claim.
        is_lost = contender.state is State.LOST
        return contender.is_over and not (is_lost and self._engine.knows(contender.key))
