"""An ASGI endpoint: bare, or behind a middleware. An acquire is a request with a new key."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from addresses import Address

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[Any]
]

#: 1 KiB of JSON.
BODY = json.dumps({"receipt": "r" * 1009}).encode()
#: How long a response is kept, in seconds: short, because there are many.
KEPT = 10


async def bare(_scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
    """The endpoint."""
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})


class Endpoint:
    """Requests to an application, without a network."""

    def __init__(self, app: App, close: Callable[[], Awaitable[object]] | None = None) -> None:
        self._app = app
        self._close = close

    async def acquire(self) -> None:
        """A request."""
        sent: list[Message] = []
        request = iter([{"type": "http.request", "body": b'{"cents": 1700}', "more_body": False}])

        async def receive() -> Message:
            return next(request)

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app(_scope(str(uuid.uuid4())), receive, send)
        assert sent[0]["status"] == 201, sent
        assert sent[1]["body"] == BODY

    async def release(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        """Closes the connections."""
        if self._close is not None:
            await self._close()


def _scope(key: str) -> Message:
    headers = [
        (b"host", b"localhost"),
        (b"content-type", b"application/json"),
        (b"content-length", b"15"),
        (b"idempotency-key", f'"{key}"'.encode()),
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/payments",
        "raw_path": b"/payments",
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }


def endpoint(whose: str, address: Address, scope: str) -> Endpoint:
    """The endpoint: `bare`, behind `fencepost`, or behind `peer`: asgi-idempotency-header."""
    if whose == "bare":
        return Endpoint(bare)
    if whose == "fencepost":
        import fencepost.asyncio
        from fencepost.web import AsgiMiddleware

        client = fencepost.asyncio.connect(address.url)
        payments = client.idempotency(scope, lease=KEPT, retention=KEPT)
        app = AsgiMiddleware(bare, payments, scope=lambda _scope: "tenant", secret="0123456789abcdef")
        return Endpoint(app, client.close)
    import redis.asyncio
    from idempotency_header_middleware import IdempotencyHeaderMiddleware
    from idempotency_header_middleware.backends import RedisBackend

    connection = redis.asyncio.Redis(host=address.host, port=address.port)
    backend = RedisBackend(connection, f"{scope}-keys", f"{scope}-responses", KEPT)
    return Endpoint(IdempotencyHeaderMiddleware(bare, backend), connection.aclose)
