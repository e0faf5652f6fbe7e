"""Form tokens."""

from __future__ import annotations

import html
import json
import secrets

from .. import asyncio as fencepost_asyncio
from .._client.idempotency import Idempotency
from .._engine.wording import unreadable
from . import _form as form
from ._middleware import tenant_of

_RANDOM_BYTES = 24


def new_token() -> str:
    """A random token, which cannot be guessed."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def issue_token(idempotency: Idempotency, tenant: str) -> str:
    """Makes a token for one form. ``tenant`` is the tenant that ``scope=`` of the middleware returns for the
    form's request. Raises the errors of :meth:`Idempotency.issue`.
    """
    if not isinstance(idempotency, Idempotency):
        raise unreadable(f"{idempotency!r} is not a scope of a client for threads")
    token = new_token()
    idempotency.issue(form.token_key(token), form.binding_of(tenant_of(tenant)))
    return token


async def issue_token_async(idempotency: fencepost_asyncio.Idempotency, tenant: str) -> str:
    """The same with a client for asyncio."""
    if not isinstance(idempotency, fencepost_asyncio.Idempotency):
        raise unreadable(f"{idempotency!r} is not a scope of a client for asyncio")
    token = new_token()
    await idempotency.issue(form.token_key(token), form.binding_of(tenant_of(tenant)))
    return token


def token_field(token: str) -> str:
    """The hidden field of a form, as HTML."""
    return f'<input type="hidden" name="{form.TOKEN_FIELD}" value="{html.escape(token)}">'


def token_body(token: str) -> bytes:
    """The response of the path that issues tokens."""
    return json.dumps({"token": token}, separators=(",", ":")).encode()


def token_headers(body: bytes) -> form.Headers:
    """Its headers."""
    return [
        (b"content-type", b"application/json"),
        (b"cache-control", b"no-store"),
        (b"content-length", b"%d" % len(body)),
    ]
