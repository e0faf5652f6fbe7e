"""The response of a handler that has a claim, in WSGI."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any, TypeAlias

from .._client.claim import Claim
from ..errors import FencepostError
from . import _form as form
from ._answers import End
from ._middleware import report_of
from ._response import BaseProtected, is_given_up

StartResponse: TypeAlias = Callable[..., Any]


class Protected(BaseProtected):
    """Runs the handler, and receives its response."""

    def __init__(
        self,
        claim: Claim,
        start_response: StartResponse,
        method: bytes,
        end_of: Callable[[int], End],
        names: frozenset[bytes],
        max_result: int,
    ) -> None:
        super().__init__(method, end_of, names, max_result)
        self._claim = claim
        self._start_response = start_response
        self._line = ""
        self._parts: deque[bytes] = deque()

    def run(self, app: Any, environ: dict[str, Any]) -> Iterable[bytes]:
        """Runs the handler, and returns the pieces of its response."""
        result: Iterable[bytes] = ()
        try:
            result = app(environ, self._start)
            pieces = iter(result)
            first = next(pieces, None)
            if not self._line:
                raise RuntimeError("the application has not called start_response()")
            self._parts.append(first or b"")
            if first is None or _is_whole(result):
                self._parts.extend(pieces)
                is_held = not self._is_too_long(sum(map(len, self._parts)))
            else:
                is_held = self._collects(pieces)
            if not is_held:
                self._begin_stream()
                return _Stream(self, self._parts, pieces, result)
            return _Whole(self._finish(b"".join(self._parts)), result)
        except BaseException:
            self.fail()
            close(result)
            raise

    def end_with(self, size: int, is_over: bool) -> None:
        """Called before a piece of a stream is sent, with the size of the stream up to its end. Ends the
        claim before the last piece.
        """
        length = self._length
        if not self._ended and (is_over or (length is not None and size >= length)):
            self._end_claim(form.Stored(self._status).encode(), self._end_after(size))

    def fail(self) -> None:
        """The handler has failed. Its outcome is unknown, unless its response is complete."""
        if not self._ended:
            self._ended = True
            self._give_up(leaves=True)

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        if self._streams:
            return self._start_response(status, headers, exc_info)
        self._line = status
        self._begin(int(status[:3]), [(as_bytes(name), as_bytes(value)) for name, value in headers])
        return self._parts.append

    def _collects(self, pieces: Iterator[bytes]) -> bool:
        """Collects the pieces of a body that is held back. Returns False if the rest must be a stream."""
        size = sum(map(len, self._parts))
        while self._is_held(size):
            piece = next(pieces, None)
            if piece is None:
                return True
            self._parts.append(piece)
            size += len(piece)
        return False

    def _finish(self, body: bytes) -> list[bytes]:
        result, is_whole = self._result(body)
        is_stored, other = self._end_claim(result, self._end_after(len(body)))
        if other is not None:
            headers = other.replay(self._method)
            return respond(self._start_response, other.status, headers, other.body or b"")
        headers = self._headers if is_stored and is_whole else self._marked()
        self._start_response(self._line, as_text(headers))
        return [body]

    def _begin_stream(self) -> None:
        self._streams = True
        self._start_response(self._line, as_text(self._marked()))

    def _end_claim(self, result: bytes, end: End) -> tuple[bool, form.Stored | None]:
        """Ends the claim. Returns whether that succeeded, and the result of another attempt if that attempt
        was first.
        """
        self._ended = True
        claim = self._claim
        if is_given_up(claim):
            return False, None
        if end != "complete":
            self._give_up(leaves=end == "leave")
            return True, None
        try:
            claim.complete(result)
            return True, claim.result if claim.replayed else None
        except FencepostError as error:
            report_of("a response was not stored", error, claim)
            return False, None

    def _give_up(self, leaves: bool) -> None:
        if is_given_up(self._claim):
            return
        try:
            if leaves:
                self._claim.leave()
            else:
                self._claim.release()
        except FencepostError as error:
            report_of("a claim was not ended", error, self._claim)


class _Whole(list[bytes]):
    """A whole response. The server closes the handler's response after it has sent this one."""

    def __init__(self, pieces: list[bytes], result: Iterable[bytes]) -> None:
        super().__init__(pieces)
        self._result = result

    def close(self) -> None:
        """The response has ended."""
        close(self._result)


class _Stream:
    """The pieces of a stream. If the client disconnects, the server closes the stream, and the handler runs
    to its end.
    """

    def __init__(
        self, response: Protected, parts: deque[bytes], rest: Iterator[bytes], result: Iterable[bytes]
    ) -> None:
        self._response = response
        self._parts = parts
        """The pieces to send. The handler may append to them with ``write()``, before its next piece."""
        self._rest = rest
        self._result = result
        self._size = 0
        self._over = False

    def __iter__(self) -> _Stream:
        return self

    def __next__(self) -> bytes:
        try:
            if not self._parts:
                self._parts.append(next(self._rest))
        except StopIteration:
            if not self._parts:
                self._over = True
                self._response.end_with(self._size, True)
                raise
        except BaseException:
            self._over = True
            self._response.fail()
            raise
        piece = self._parts.popleft()
        self._size += len(piece)
        self._response.end_with(self._size, False)
        return piece

    def close(self) -> None:
        """The response has ended, or the client has disconnected."""
        try:
            while not self._over:
                next(self, None)
        finally:
            close(self._result)


def _is_whole(result: Iterable[bytes]) -> bool:
    """Whether a body is a whole: one piece, or a response of Django that is not a stream."""
    is_one = isinstance(result, (list, tuple)) and len(result) == 1
    return is_one or getattr(result, "streaming", None) is False


def close(result: Iterable[bytes]) -> None:
    """Closes the response of an application."""
    method = getattr(result, "close", None)
    if method is not None:
        method()


def respond(start_response: StartResponse, status: int, headers: form.Headers, body: bytes) -> list[bytes]:
    """Responds without the handler."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    start_response(f"{status} {phrase}", as_text(headers))
    return [body]


def as_bytes(text: str) -> bytes:
    """The bytes of a text of WSGI."""
    return text.encode("latin-1")


def as_text(headers: form.Headers) -> list[tuple[str, str]]:
    """Headers as WSGI has them."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
