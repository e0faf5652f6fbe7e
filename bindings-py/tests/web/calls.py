"""Requests to an application, without a server."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SECRET = b"a secret of a test"
BODY = b'{"cents":1700}'


@dataclass
class Response:
    """The response that a client gets."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: list[bytes] = field(default_factory=list)

    @property
    def replayed(self) -> bool:
        return self.headers.get("idempotent-replayed") == "true"

    @property
    def stored(self) -> bool:
        return "idempotency-stored" not in self.headers


def headers(key: str | None, more: dict[str, str]) -> dict[str, str]:
    """The headers of a request."""
    given = {"x-tenant": "shop-7", **more}
    return given if key is None else {**given, "idempotency-key": key}


def asgi_scope(
    key: str | None = "order-17", path: str = "/pay", method: str = "POST", **more: str
) -> dict[str, Any]:
    """The scope of a request, as uvicorn makes it."""
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers(key, more).items()],
        "extensions": {"http.response.pathsend": {}, "tls": {}},
    }


def asgi_tenant(scope: Any) -> str:
    """The tenant of a request."""
    return str(dict(scope["headers"])[b"x-tenant"], "ascii")


async def call_asgi(
    app: Any, scope: dict[str, Any], body: bytes = BODY, on_piece: Callable[[bytes], Any] | None = None
) -> Response:
    """Sends a request. ``on_piece`` is awaited for each piece of the response."""
    response = Response()
    messages = [
        {"type": "http.request", "body": body[:5], "more_body": True},
        {"type": "http.request", "body": body[5:]},
    ]

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            response.status = message["status"]
            response.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            response.pieces.append(message["body"])
            response.body += message["body"]
            if on_piece is not None:
                await on_piece(message["body"])

    await app(scope, receive, send)
    return response


def wsgi_environ(key: str | None = "order-17", body: bytes = BODY, **more: Any) -> dict[str, Any]:
    """The environ of a request, as gunicorn makes it."""
    environ = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/pay",
        "QUERY_STRING": "",
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": "application/json",
        "HTTP_X_TENANT": "shop-7",
        "wsgi.input": io.BytesIO(body),
        "wsgi.file_wrapper": object,
        **more,
    }
    if key is not None:
        environ["HTTP_IDEMPOTENCY_KEY"] = key
    return environ


def wsgi_tenant(environ: Any) -> str:
    """The tenant of a request."""
    return str(environ["HTTP_X_TENANT"])


def call_wsgi(app: Any, environ: dict[str, Any], most: int | None = None) -> Response:
    """Sends a request. The client disconnects after ``most`` pieces."""
    response = Response()

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        response.status = int(status[:3])
        response.headers = {name.lower(): value for name, value in headers}

    result = app(environ, start_response)
    try:
        for piece in result:
            assert response.status, "a piece without a status"
            response.pieces.append(piece)
            response.body += piece
            if most is not None and len(response.pieces) == most:
                break
    finally:
        if hasattr(result, "close"):
            result.close()
    return response
