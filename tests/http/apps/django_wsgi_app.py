"""Django on gunicorn."""

from __future__ import annotations

from functools import cache
from typing import Any

import common
import fencepost
import redis
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from fencepost.web import WsgiMiddleware
from gunicorn_server import serve

settings.configure(
    ROOT_URLCONF=__name__,
    SECRET_KEY=common.SECRET,
    ALLOWED_HOSTS=["*"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    LOGGING_CONFIG=None,
)


# Each worker makes its own clients, after the fork.
@cache
def effects() -> redis.Redis:
    return redis.Redis.from_url(common.EFFECTS, **common.AT_THE_GATE)


@cache
def payments() -> fencepost.Idempotency:
    return fencepost.connect(common.STORE).idempotency(common.SCOPE, **common.OF_CLIENT)


def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def run(request: Any, path: str = "") -> Any:
    handler = common.Handler(request.META["QUERY_STRING"], request.body, request.META.get("fencepost.claim"))
    reply = common.handle(effects(), handler)
    if reply.pieces:
        body = common.pieces(effects(), handler, reply.pieces)
        return StreamingHttpResponse(body, status=reply.status, headers=reply.headers)
    return HttpResponse(reply.body, status=reply.status, headers=reply.headers)


def tenant(environ: dict[str, Any]) -> str:
    given: str = environ["HTTP_X_TENANT"]
    return given


urlpatterns = [path("ready", ready), path("run", run), path("run/<path:path>", run)]
serve(WsgiMiddleware(get_wsgi_application(), payments, scope=tenant, **common.SETTINGS))
