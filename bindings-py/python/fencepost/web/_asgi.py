"""The middleware for ASGI."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias

from .._engine.log import log
from ..asyncio import Claim, Idempotency
from ..errors import Mismatch
from . import _answers as answers
from . import _form as form
from ._asgi_response import Message, Protected, Send
from ._middleware import (
    CLAIM,
    RESPONSES,
    Answer,
    Head,
    HungUp,
    Middleware,
    Named,
    StoreAway,
    giving_back,
    refusing,
    stored_by,
    tenant_of,
    with_not_stored,
)
from ._tokens import new_token, token_body, token_headers

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_DRAIN_WITHIN = 30.0
"""How long a request, and then a shutdown, waits for a handler whose client has disconnected, in seconds."""
_HIDDEN = frozenset(
    (
        *("http.response.trailers", "http.response.pathsend", "http.response.zerocopysend"),
        *("http.response.push", "http.response.early_hint"),
    )
)
"""Extensions with which a response would bypass the middleware."""


class AsgiMiddleware(Middleware[Scope, Idempotency]):
    """Runs the covered requests of an ASGI application once for each key, and replays their responses::

        app.add_middleware(AsgiMiddleware, idempotency=payments, scope=tenant, secret=SECRET)

    ``scope`` and ``covers`` get the ASGI scope; ``scope`` may be a coroutine function. The handler finds its
    claim at ``scope["fencepost.claim"]``.
    """

    __doc__ = f"{__doc__}\n{Middleware.__doc__}"
    app: App
    _kind = Idempotency
    _client = "a client of fencepost.asyncio"

    def _set_up(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a connection."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self.app(scope, self._draining(receive), send)
        else:
            await self.app(scope, receive, send)

    async def drain(self, timeout: float = _DRAIN_WITHIN) -> None:
        """Waits at most ``timeout`` seconds for the running handlers. Then cancels the remaining ones, and
        leaves their claims. The middleware calls this at the lifespan's shutdown. Call it yourself if the
        middleware gets no lifespan messages: on a mounted application, or around Django.
        """
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=timeout)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def _draining(self, receive: Receive) -> Receive:
        async def received() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self.drain()
            return message

        return received

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = _head(scope)
        try:
            if self._issues_token(head):
                await self._issue(scope, send)
            elif self._is_covered(head, scope):
                await self._serve_covered(head, scope, receive, send)
            else:
                await self.app(scope, receive, send)
        except Answer as answer:
            problem = answer.problem
            await _respond(send, problem.status, problem.headers(answer.wait), problem.body)
        except HungUp:
            # The client has disconnected. Some middleware around this one requires a response.
            with suppress(OSError):  # Servers report a disconnected client like this.
                await _respond(send, 400, [(b"content-length", b"0")], b"")

    async def _issue(self, scope: Scope, send: Send) -> None:
        tenant = await self._tenant(scope)
        operations, token = self._operations(), new_token()
        key = form.token_key(token)
        with refusing("no token was issued", operations._operations, key):
            await operations.issue(key, form.binding_of(tenant))
        body = token_body(token)
        await _respond(send, 201, token_headers(body), body)

    async def _serve_covered(self, head: Head, scope: Scope, receive: Receive, send: Send) -> None:
        named: Named | None = None
        may_have_form = self._may_have_form(head)
        if not may_have_form:
            named = self._named(head, None)
            if named is None:
                await self.app(scope, receive, send)
                return
        self._check_length(head)
        body = await self._read(receive)
        if may_have_form:
            named = self._named(head, form.token_in(body))
        if named is None:
            await self.app(scope, _again(body, receive), send)
            return
        try:
            claim = await self._claim(head, named, await self._tenant(scope), body)
        except StoreAway:
            await self.app(scope, _again(body, receive), _marking(send))
            return
        if claim.replayed:
            await _replay(send, claim, head.method)
            return
        await self._run(claim, scope, body, receive, send)

    async def _tenant(self, scope: Scope) -> str:
        given = self._scope(scope)
        return tenant_of(await given if inspect.isawaitable(given) else given)

    async def _read(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HungUp
            part = message.get("body", b"")
            size += len(part)
            if size > self._max_body:
                raise Answer(answers.BODY_TOO_LARGE)
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _claim(self, head: Head, named: Named, tenant: str, body: bytes) -> Claim:
        """Claims the operation. Raises Answer, StoreAway with ``fail_open``, and errors that the program
        caused.
        """
        scope, key = self._operations(), named.key(tenant)
        operations = scope._operations
        attempts = self._attempts(operations, named, tenant, head, body)
        with refusing("a request was refused", operations, key, fail_open=self._fail_open):
            while True:
                attempt = next(attempts)
                try:
                    return await scope._claim(key, attempt.settings, self._wait, RESPONSES)
                except Mismatch:
                    if attempt.is_last:
                        raise

    async def _run(self, claim: Claim, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Runs the handler in a separate task, which continues if this one is cancelled or ends."""
        over = asyncio.Event()
        extensions = {
            name: value for name, value in (scope.get("extensions") or {}).items() if name not in _HIDDEN
        }
        inner: Scope = {**scope, "extensions": extensions, CLAIM: claim}
        give_back = giving_back(inner, scope, ("extensions", CLAIM))

        async def send_outside(message: Message) -> None:
            give_back()
            await send(message)

        response = Protected(
            claim, send_outside, scope["method"].encode(), self._end, self._stored_headers, self._max_result
        )

        async def hung_up() -> Message:
            # The handler must not learn that its client disconnects: it would stop half-way.
            await over.wait()
            return {"type": "http.disconnect"}

        async def sent(message: Message) -> None:
            await response.send(message)
            if response.is_complete:
                over.set()

        async def handle() -> None:
            returned = False
            try:
                await self.app(inner, _again(body, hung_up), sent)
                returned = True
            finally:
                over.set()
                await response.close(returned)

        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        task = loop.create_task(_settling(ended, handle()))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        watch = loop.create_task(_end_after_hang_up(receive, response, ended))
        try:
            await ended
        except asyncio.CancelledError:
            response.hang_up()
            (task if ended.cancelled() else ended).add_done_callback(_log_failure)
            raise
        except HungUp:
            response.hang_up()
            task.add_done_callback(_log_failure)
            if not response.has_begun:
                raise
        finally:
            watch.cancel()
            give_back()


async def _end_after_hang_up(receive: Receive, response: Protected, ended: asyncio.Future[None]) -> None:
    """Ends the request some time after its client has disconnected, even if the handler continues. Servers
    wait for their requests without a limit, and only then for the lifespan's shutdown.
    """
    try:
        message = await receive()
    except Exception:  # This server does not report a disconnect.
        return
    # After the response, the handler learns of the disconnect, and background tasks have the time they need.
    if message["type"] == "http.disconnect" and not response.is_complete:
        await asyncio.sleep(_DRAIN_WITHIN)
        if not ended.done():
            ended.set_exception(HungUp())


async def _settling(ended: asyncio.Future[None], work: Coroutine[Any, Any, None]) -> None:
    """Does the work, and sets its result or exception on ``ended``. ``asyncio.shield`` would do so two turns
    of the event loop later. If the client has disconnected, no task awaits ``ended``, and this task raises
    the exception.
    """
    try:
        await work
    except asyncio.CancelledError:
        ended.cancel()
        raise
    except GeneratorExit:
        raise
    except BaseException as error:
        # A task must not raise an exception such as SystemExit: asyncio would end the event loop with it.
        if not ended.done():
            ended.set_exception(error)
        elif isinstance(error, (Exception, KeyboardInterrupt)):
            raise
        else:
            _log_error(error)
    else:
        if not ended.done():
            ended.set_result(None)


def _again(body: bytes, then: Receive) -> Receive:
    """Returns a ``receive`` that first returns the request's body, and then calls ``then``."""
    is_read = False

    async def received() -> Message:
        nonlocal is_read
        if is_read:
            return await then()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received


def _head(scope: Scope) -> Head:
    lines: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        lines.setdefault(name, []).append(value)
    raw_path = scope.get("raw_path")
    return Head(
        scope["method"].encode(),
        (scope["path"].encode() or b"/") if raw_path is None else form.route_of(raw_path),
        scope.get("query_string", b""),
        lines.get(b"idempotency-key", []),
        lines.get(b"idempotency-token", []),
        lines.get(b"content-type", [b""])[0],
        lines.get(b"content-length", [b""])[0],
    )


async def _respond(send: Send, status: int, headers: form.Headers, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _replay(send: Send, claim: Claim, method: bytes) -> None:
    stored = stored_by(claim)
    await _respond(send, stored.status, stored.replay(method), stored.body or b"")


def _marking(send: Send) -> Send:
    """Adds the header which reports that no retry gets this response."""

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": with_not_stored(list(message.get("headers", ())))}
        await send(message)

    return marked


def _log_failure(handled: asyncio.Future[None]) -> None:
    error = None if handled.cancelled() else handled.exception()
    if error is not None:
        _log_error(error)


def _log_error(error: BaseException) -> None:
    log.error("web: a handler has failed whose client has gone", exc_info=error)
