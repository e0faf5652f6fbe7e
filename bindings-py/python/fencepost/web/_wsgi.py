"""The middleware for WSGI."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from .._client.claim import Claim
from .._client.idempotency import Idempotency
from ..errors import Mismatch
from . import _answers as answers
from . import _form as form
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
from ._wsgi_response import Protected, StartResponse, as_bytes, as_text, respond

Environ: TypeAlias = dict[str, Any]
App: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]

_PIECE = 64 * 1024
_OWN = frozenset(
    (
        *("wsgi.input", "wsgi.input_terminated", "CONTENT_LENGTH", "HTTP_TRANSFER_ENCODING"),
        *("wsgi.file_wrapper", CLAIM),
    )
)
"""The names that differ in the environ of the handler."""


class WsgiMiddleware(Middleware[Environ, Idempotency]):
    """Runs the covered requests of a WSGI application once for each key, and replays their responses::

        app.wsgi_app = WsgiMiddleware(app.wsgi_app, payments, scope=tenant, secret=SECRET)

    ``scope`` and ``covers`` get the WSGI environ. The handler finds its claim at
    ``environ["fencepost.claim"]``. A forked process needs its own client: pass ``idempotency`` as a function.
    """

    __doc__ = f"{__doc__}\n{Middleware.__doc__}"
    app: App
    _kind = Idempotency
    _client = "a client of fencepost"

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Serves a request."""
        head = _head(environ)
        try:
            if self._issues_token(head):
                return self._issue(environ, start_response)
            if self._is_covered(head, environ):
                return self._serve_covered(head, environ, start_response)
        except Answer as answer:
            problem = answer.problem
            return respond(start_response, problem.status, problem.headers(answer.wait), problem.body)
        except HungUp:
            return respond(start_response, 400, [(b"content-length", b"0")], b"")
        return self.app(environ, start_response)

    def _issue(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        tenant = tenant_of(self._scope(environ))
        operations, token = self._operations(), new_token()
        key = form.token_key(token)
        with refusing("no token was issued", operations._operations, key):
            operations.issue(key, form.binding_of(tenant))
        body = token_body(token)
        return respond(start_response, 201, token_headers(body), body)

    def _serve_covered(self, head: Head, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        named: Named | None = None
        may_have_form = self._may_have_form(head)
        if not may_have_form:
            named = self._named(head, None)
            if named is None:
                return self.app(environ, start_response)
        self._check_length(head)
        body = self._read(environ)
        if may_have_form:
            named = self._named(head, form.token_in(body))
        inner = _with_body(environ, body)
        give_back = giving_back(inner, environ, _OWN)

        def start_outside(*arguments: Any) -> Any:
            give_back()
            return start_response(*arguments)

        try:
            if named is None:
                return self.app(inner, start_outside)
            try:
                claim = self._claim(head, named, tenant_of(self._scope(environ)), body)
            except StoreAway:
                return self.app(inner, _marking(start_outside))
            if claim.replayed:
                return _replay(start_response, claim, head.method)
            inner[CLAIM] = claim
            # With it, the server would send files that bypass the middleware.
            inner.pop("wsgi.file_wrapper", None)
            response = Protected(
                claim, start_outside, head.method, self._end, self._stored_headers, self._max_result
            )
            return response.run(self.app, inner)
        finally:
            give_back()

    def _read(self, environ: Environ) -> bytes:
        stream = environ["wsgi.input"]
        length = environ.get("CONTENT_LENGTH") or ""
        if length.isascii() and length.isdigit():
            body = b"".join(_pieces(stream, int(length)))
            if len(body) < int(length):
                raise HungUp
            return body
        if not environ.get("wsgi.input_terminated"):
            return b""
        body = b"".join(_pieces(stream, self._max_body + 1))
        if len(body) > self._max_body:
            raise Answer(answers.BODY_TOO_LARGE)
        return body

    def _claim(self, head: Head, named: Named, tenant: str, body: bytes) -> Claim:
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
                    return scope._claim(key, attempt.settings, self._wait, RESPONSES)
                except Mismatch:
                    if attempt.is_last:
                        raise


def _head(environ: Environ) -> Head:
    def lines(name: str) -> list[bytes]:
        value = environ.get(name)
        return [] if value is None else [as_bytes(value)]

    return Head(
        as_bytes(environ["REQUEST_METHOD"]),
        # The server has decoded both.
        as_bytes(environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")) or b"/",
        as_bytes(environ.get("QUERY_STRING", "")),
        lines("HTTP_IDEMPOTENCY_KEY"),
        lines("HTTP_IDEMPOTENCY_TOKEN"),
        as_bytes(environ.get("CONTENT_TYPE") or ""),
        as_bytes(environ.get("CONTENT_LENGTH") or ""),
    )


def _pieces(stream: Any, size: int) -> Iterator[bytes]:
    while size > 0:
        piece: bytes = stream.read(min(size, _PIECE))
        if not piece:
            return
        size -= len(piece)
        yield piece


def _with_body(environ: Environ, body: bytes) -> Environ:
    inner = {**environ, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
    inner["wsgi.input_terminated"] = True
    inner.pop("HTTP_TRANSFER_ENCODING", None)
    return inner


def _replay(start_response: StartResponse, claim: Claim, method: bytes) -> Iterable[bytes]:
    stored = stored_by(claim)
    return respond(start_response, stored.status, stored.replay(method), stored.body or b"")


def _marking(start_response: StartResponse) -> StartResponse:
    """Adds the header which reports that no retry gets this response."""

    def marked(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        added = [*headers, *as_text(with_not_stored([]))]
        return start_response(status, added, exc_info) if exc_info else start_response(status, added)

    return marked
