"""Flask on gunicorn."""

from __future__ import annotations

from functools import cache
from typing import Any

import common
import fencepost
import redis
from fencepost.web import WsgiMiddleware
from flask import Flask, Response, request
from gunicorn_server import serve

app = Flask(__name__)


# Each worker makes its own clients, after the fork.
@cache
def effects() -> redis.Redis:
    return redis.Redis.from_url(common.EFFECTS, **common.AT_THE_GATE)


@cache
def payments() -> fencepost.Idempotency:
    return fencepost.connect(common.STORE).idempotency(common.SCOPE, **common.OF_CLIENT)


@app.get("/ready")
def ready() -> Response:
    return Response()


@app.route("/run", methods=["GET", "POST", "PATCH"])
@app.route("/run/<path:path>", methods=["GET", "POST", "PATCH"])
def run(path: str = "") -> Response:
    query = request.query_string.decode()
    handler = common.Handler(query, request.get_data(), request.environ.get("fencepost.claim"))
    reply = common.handle(effects(), handler)
    body: Any = common.pieces(effects(), handler, reply.pieces) if reply.pieces else reply.body
    return Response(body, reply.status, reply.headers)


def tenant(environ: dict[str, Any]) -> str:
    given: str = environ["HTTP_X_TENANT"]
    return given


serve(WsgiMiddleware(app, payments, scope=tenant, **common.SETTINGS))
