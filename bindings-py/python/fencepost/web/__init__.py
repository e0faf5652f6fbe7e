"""Runs a request once for each key, and replays its response: middleware for ASGI and WSGI.

    from fencepost.web import AsgiMiddleware, WsgiMiddleware

A covered request has the header ``Idempotency-Key``. The first request with a key runs, its response is
stored, and every later one gets that response. ``docs/reference/http.md`` describes the form, which the
middleware of other languages shares.
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
