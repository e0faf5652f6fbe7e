"""Changes of the secret, on a real Redis: the examples that all languages read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calls import asgi_scope, asgi_tenant, call_asgi, call_wsgi, wsgi_environ, wsgi_tenant
from conftest import AsyncConnect, Connect
from fencepost.web import AsgiMiddleware, WsgiMiddleware, issue_token
from support import RedisBackend

EXAMPLES = json.loads((Path(__file__).parents[3] / "tests" / "http.json").read_text(encoding="utf-8"))
examples = pytest.mark.parametrize("example", EXAMPLES["secrets"])


class App:
    """An application that counts its runs: for ASGI, and for WSGI."""

    runs = 0

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        self.runs += 1
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    def wsgi(self, environ: Any, start_response: Any) -> list[bytes]:
        self.runs += 1
        start_response("201 Created", [])
        return [b"done"]


@examples
async def test_an_asgi_server(aconnect: AsyncConnect, redis_server: RedisBackend, example: Any) -> None:
    payments, app = aconnect(redis_server.url).idempotency(redis_server.prefix), App()

    def protected(secret: Any) -> AsgiMiddleware:
        return AsgiMiddleware(app.asgi, payments, scope=asgi_tenant, secret=secret)

    assert (await call_asgi(protected(example["stored"]), asgi_scope())).status == 201
    now = protected(example["secrets"])
    retry = await call_asgi(now, asgi_scope())
    assert (retry.status, retry.replayed) == ((201, True) if example["accepted"] else (422, False))
    # A request with another body never runs.
    assert (await call_asgi(now, asgi_scope(), b"another body")).status == 422
    assert app.runs == 1


@examples
@pytest.mark.parametrize("has_token", [False, True])
def test_a_wsgi_server(connect: Connect, redis_server: RedisBackend, example: Any, has_token: bool) -> None:
    payments, app = connect(redis_server.url).idempotency(redis_server.prefix), App()

    def protected(secret: Any) -> WsgiMiddleware:
        return WsgiMiddleware(app.wsgi, payments, scope=wsgi_tenant, secret=secret, tokens=True)

    token: dict[str, Any] = {}
    if has_token:
        token["HTTP_IDEMPOTENCY_TOKEN"] = issue_token(payments, "shop-7")
    assert call_wsgi(protected(example["stored"]), wsgi_environ(**token)).status == 201
    now = protected(tuple(example["secrets"]))
    retry = call_wsgi(now, wsgi_environ(**token))
    assert (retry.status, retry.replayed) == ((201, True) if example["accepted"] else (422, False))
    assert call_wsgi(now, wsgi_environ(body=b"another body", **token)).status == 422
    assert app.runs == 1
