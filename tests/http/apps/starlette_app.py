"""Starlette on uvicorn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import common
import fencepost.asyncio
import redis.asyncio
import uvicorn
from fencepost.web import AsgiMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route


async def ready(request: Request) -> Response:
    return Response()


async def run(request: Request) -> Response:
    effects = request.app.state.effects
    claim = request.scope.get("fencepost.claim")
    handler = common.Handler(request.url.query, await request.body(), claim)
    reply = await common.handle_async(effects, handler)
    if reply.pieces:
        body = common.pieces_async(effects, handler, reply.pieces)
        return StreamingResponse(body, reply.status, reply.headers)
    return Response(reply.body, reply.status, reply.headers)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with (
        redis.asyncio.Redis.from_url(common.EFFECTS, **common.AT_THE_GATE) as app.state.effects,
        fencepost.asyncio.connect(common.STORE) as client,
    ):
        app.state.payments = client.idempotency(common.SCOPE, **common.OF_CLIENT)
        yield


def tenant(scope: Any) -> str:
    return str(dict(scope["headers"])[b"x-tenant"], "ascii")


METHODS = ["GET", "POST", "PATCH"]
app: Starlette = Starlette(
    routes=[
        Route("/ready", ready),
        Route("/run", run, methods=METHODS),
        Route("/run/{path:path}", run, methods=METHODS),
    ],
    middleware=[
        Middleware(AsgiMiddleware, idempotency=lambda: app.state.payments, scope=tenant, **common.SETTINGS)
    ],
    lifespan=lifespan,
)
uvicorn.run(app, host="127.0.0.1", port=common.PORT, log_level="warning")
