"""FastAPI on uvicorn, with outer and inner middleware that turns each response into a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import common
import fencepost.asyncio
import redis.asyncio
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from fencepost.web import AsgiMiddleware
from starlette.middleware.base import BaseHTTPMiddleware


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with (
        redis.asyncio.Redis.from_url(common.EFFECTS, **common.AT_THE_GATE) as app.state.effects,
        fencepost.asyncio.connect(common.STORE) as client,
    ):
        app.state.payments = client.idempotency(common.SCOPE, **common.OF_CLIENT)
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/ready")
async def ready() -> Response:
    return Response()


@app.api_route("/run", methods=["GET", "POST", "PATCH"])
@app.api_route("/run/{path:path}", methods=["GET", "POST", "PATCH"])
async def run(request: Request) -> Response:
    effects = request.app.state.effects
    claim = request.scope.get("fencepost.claim")
    handler = common.Handler(request.url.query, await request.body(), claim)
    reply = await common.handle_async(effects, handler)
    if reply.pieces:
        body = common.pieces_async(effects, handler, reply.pieces)
        return StreamingResponse(body, reply.status, reply.headers)
    return Response(reply.body, reply.status, reply.headers)


async def tenant(scope: Any) -> str:
    return str(dict(scope["headers"])[b"x-tenant"], "ascii")


async def untouched(request: Request, call_next: Any) -> Any:
    return await call_next(request)


# The last middleware is the outermost.
app.add_middleware(BaseHTTPMiddleware, dispatch=untouched)
app.add_middleware(AsgiMiddleware, idempotency=lambda: app.state.payments, scope=tenant, **common.SETTINGS)
app.add_middleware(BaseHTTPMiddleware, dispatch=untouched)
uvicorn.run(app, host="127.0.0.1", port=common.PORT, log_level="warning")
