"""The response of a handler that has a claim, in ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ..asyncio import Claim
from ..errors import FencepostError
from . import _form as form
from ._answers import End
from ._middleware import report_of
from ._response import BaseProtected, is_given_up

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class Protected(BaseProtected):
    """Receives the messages of the handler."""

    def __init__(
        self,
        claim: Claim,
        send: Send,
        method: bytes,
        end_of: Callable[[int], End],
        names: frozenset[bytes],
        max_result: int,
    ) -> None:
        super().__init__(method, end_of, names, max_result)
        self._claim = claim
        self._send = send
        self._start: Message | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._gone = False
        self._withheld = False
        """Whether the end of the body waits until the application has returned."""
        self.has_begun = False
        """Whether the client may have got the head of a response."""
        self.is_complete = False
        """Whether the handler has sent its whole response."""

    def hang_up(self) -> None:
        """Called when the client has disconnected. Nothing is sent any more."""
        self._gone = True

    async def close(self, returned: bool) -> None:
        """The application has returned or failed. If its response is not complete, the outcome is unknown."""
        if returned and self._withheld:
            await self._take(b"")
        elif not self._ended:
            self._ended = True
            await self._give_up(leaves=True)

    async def send(self, message: Message) -> None:
        """Handles a message of the handler."""
        kind = message["type"]
        if kind == "http.response.start" and self._start is None:
            self._start = message
            headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            self._begin(message["status"], headers)
        elif kind == "http.response.start" and not self.is_complete:
            raise RuntimeError("the application has sent http.response.start twice")
        elif kind == "http.response.body" and self._start is not None and not self.is_complete:
            self.is_complete = not message.get("more_body", False)
            part = bytes(message.get("body", b""))
            if self.is_complete and not part and self._may_be_cut_short:
                # If a handler fails half-way, Starlette's BaseHTTPMiddleware also ends the body like this,
                # and raises the exception afterwards.
                self._withheld = True
            else:
                await self._take(part)
        else:
            await self._forward(message)

    @property
    def _may_be_cut_short(self) -> bool:
        length = self._length
        return form.has_length(self._status) and (length is None or self._size < length)

    async def _take(self, part: bytes) -> None:
        if self._streams:
            await self._pass_on(part)
            return
        self._parts.append(part)
        self._size += len(part)
        if self.is_complete and not self._is_too_long(self._size):
            await self._finish(b"".join(self._parts))
        elif self.is_complete or not self._is_held(self._size):
            await self._begin_stream()

    async def _finish(self, body: bytes) -> None:
        result, is_whole = self._result(body)
        is_stored, other = await self._end_claim(result, self._end_after(len(body)))
        if other is not None:
            await self._send_all(other.status, other.replay(self._method), other.body or b"")
        else:
            headers = self._headers if is_stored and is_whole else self._marked()
            await self._send_all(self._status, headers, body)

    async def _begin_stream(self) -> None:
        assert self._start is not None
        self._streams = True
        await self._forward({**self._start, "headers": self._marked()})
        parts, self._parts, self._size = self._parts, [], 0
        await self._pass_on(b"".join(parts))

    async def _pass_on(self, part: bytes) -> None:
        self._size += len(part)
        length = self._length
        is_last = self.is_complete or (length is not None and self._size >= length)
        if is_last and not self._ended:
            await self._end_claim(form.Stored(self._status).encode(), self._end_after(self._size))
        await self._forward({"type": "http.response.body", "body": part, "more_body": not self.is_complete})

    async def _end_claim(self, result: bytes, end: End) -> tuple[bool, form.Stored | None]:
        """Ends the claim. Returns whether that succeeded, and the result of another attempt if that attempt
        was first.
        """
        self._ended = True
        claim = self._claim
        if is_given_up(claim):
            return False, None
        if end != "complete":
            await self._give_up(leaves=end == "leave")
            return True, None
        try:
            await claim.complete(result)
            return True, claim.result if claim.replayed else None
        except FencepostError as error:
            report_of("a response was not stored", error, claim)
            return False, None

    async def _give_up(self, leaves: bool) -> None:
        if is_given_up(self._claim):
            return
        try:
            await (self._claim.leave() if leaves else self._claim.release())
        except FencepostError as error:
            report_of("a claim was not ended", error, self._claim)

    async def _send_all(self, status: int, headers: form.Headers, body: bytes) -> None:
        await self._forward({"type": "http.response.start", "status": status, "headers": headers})
        await self._forward({"type": "http.response.body", "body": body, "more_body": False})

    async def _forward(self, message: Message) -> None:
        if self._gone:
            return
        self.has_begun = True
        try:
            await self._send(message)
        except OSError:  # Servers report a disconnected client like this.
            self._gone = True
