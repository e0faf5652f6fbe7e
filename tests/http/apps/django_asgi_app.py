"""Django on uvicorn."""

from __future__ import annotations

from functools import cache
from typing import Any

import common
import fencepost.asyncio
import redis.asyncio
import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from fencepost.web import AsgiMiddleware

settings.configure(
    ROOT_URLCONF=__name__,
    SECRET_KEY=common.SECRET,
    ALLOWED_HOSTS=["*"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    LOGGING_CONFIG=None,
)


# Django has no lifespan: the first request on the loop makes the clients.
@cache
def effects() -> redis.asyncio.Redis:
    return redis.asyncio.Redis.from_url(common.EFFECTS, **common.AT_THE_GATE)


@cache
def payments() -> fencepost.asyncio.Idempotency:
    client = fencepost.asyncio.connect(common.STORE)
    return client.idempotency(common.SCOPE, **common.OF_CLIENT)


async def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


async def run(request: Any, path: str = "") -> Any:
    handler = common.Handler(request.META["QUERY_STRING"], request.body, request.scope.get("fencepost.claim"))
    reply = await common.handle_async(effects(), handler)
    if reply.pieces:
        body = common.pieces_async(effects(), handler, reply.pieces)
        return StreamingHttpResponse(body, status=reply.status, headers=reply.headers)
    return HttpResponse(reply.body, status=reply.status, headers=reply.headers)


def tenant(scope: Any) -> str:
    return str(dict(scope["headers"])[b"x-tenant"], "ascii")


urlpatterns = [path("ready", ready), path("run", run), path("run/<path:path>", run)]
app = AsgiMiddleware(get_asgi_application(), payments, scope=tenant, **common.SETTINGS)
uvicorn.run(app, host="127.0.0.1", port=common.PORT, log_level="warning")
