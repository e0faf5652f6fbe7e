"""Runs a request once for each key, and replays its response: middleware for ASGI and WSGI.

    from fencepost.web import AsgiMiddleware, WsgiMiddleware

A covered request has the header ``Idempotency-Key``. The application handles the first request with a key,
and the middleware stores the response. Every later request with this key gets that response.
``docs/reference/http.md`` describes the format, which the middleware of other languages shares.
"""

from __future__ import annotations

from ._asgi import AsgiMiddleware
from ._form import TAG, record_key
from ._tokens import issue_token, issue_token_async, token_field
from ._wsgi import WsgiMiddleware

__all__ = [
    "TAG",
    "AsgiMiddleware",
    "WsgiMiddleware",
    "issue_token",
    "issue_token_async",
    "record_key",
    "token_field",
]
