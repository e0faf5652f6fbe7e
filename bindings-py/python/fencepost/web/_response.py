"""The part of a protected response that is the same in ASGI and WSGI: everything that does not wait."""

from __future__ import annotations

from collections.abc import Callable

from .._client.base_claim import BaseClaim
from .._engine.contender import State
from . import _form as form
from ._answers import End
from ._middleware import with_not_stored


class BaseProtected:
    """The response of a handler that has a claim. The middleware holds it back until the claim has ended. Of
    a stream it holds back only the end.
    """

    def __init__(
        self, method: bytes, end_of: Callable[[int], End], names: frozenset[bytes], max_result: int
    ) -> None:
        self._method = method
        self._end_of = end_of
        self._names = names
        self._max_result = max_result
        self._status = 0
        self._headers: form.Headers = []
        self._streams = False
        self._ended = False
        """Whether the middleware has ended the claim, or tried to."""

    def _begin(self, status: int, headers: form.Headers) -> None:
        self._status = status
        self._headers = headers

    @property
    def _length(self) -> int | None:
        """The Content-Length of the response."""
        for name, value in self._headers:
            if name.lower() == b"content-length" and value.strip().isdigit():
                return int(value)
        return None

    def _is_held(self, size: int) -> bool:
        """Whether a body that comes in pieces, ``size`` bytes so far, is held back."""
        length = self._length
        return length is not None and size <= length <= self._max_result

    def _is_cut_short(self, size: int) -> bool:
        """Whether a body that ends after ``size`` bytes is shorter than Content-Length."""
        return self._has_body and self._length is not None and size < self._length

    def _is_too_long(self, size: int) -> bool:
        """Whether a body is longer than Content-Length. The first client gets only the announced bytes, and a
        replay would send all of them.
        """
        return self._has_body and self._length is not None and size > self._length

    @property
    def _has_body(self) -> bool:
        """Whether Content-Length is the length of the body that is sent."""
        return self._method != b"HEAD" and form.has_length(self._status)

    def _end_after(self, size: int) -> End:
        """How a response whose body has ``size`` bytes ends its claim."""
        return "leave" if self._is_cut_short(size) else self._end_of(self._status)

    def _result(self, body: bytes) -> tuple[bytes, bool]:
        """The stored result, and whether the body is part of it."""
        stored = form.Stored.of(self._status, self._headers, body, self._names)
        result = stored.encode()
        if len(result) <= self._max_result:
            return result, True
        return form.Stored(self._status).encode(), False

    def _marked(self) -> form.Headers:
        """The headers, marked if no retry gets the body."""
        if self._end_of(self._status) == "complete":
            return with_not_stored(self._headers)
        return self._headers


def is_given_up(claim: BaseClaim) -> bool:
    """Whether the handler has released or left its claim itself."""
    return claim._contender.state is State.RELEASED
