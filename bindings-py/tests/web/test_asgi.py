"""The ASGI middleware on a real Redis: cases that a client of a real server cannot cause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from calls import BODY, SECRET, Response, asgi_scope, asgi_tenant, call_asgi
from conftest import AsyncConnect
from fencepost.web import AsgiMiddleware, issue_token_async, record_key, token_field
from fencepost.web import _form as form
from support import SHORT, RedisBackend, wait_until_async

AsyncScopes = Callable[..., fencepost.asyncio.Idempotency]


class App:
    """An application with a handler from the test."""

    def __init__(self) -> None:
        self.runs = 0
        self.gate = asyncio.Event()
        self.handle: Callable[..., Awaitable[None]] = self.pay

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.runs += 1
            await self.handle(scope, receive, send)
        else:
            await send({"type": "seen", "message": await receive()})

    async def pay(self, scope: Any, receive: Any, send: Any) -> None:
        """Responds with the number of the run, when the gate is open."""
        run = self.runs
        assert (await receive())["body"] == BODY
        await self.gate.wait()
        await respond(send, f"run {run}".encode())


async def respond(send: Any, *pieces: bytes, status: int = 201, length: int | None = None) -> None:
    """A response in pieces."""
    headers = [] if length is None else [(b"Content-Length", str(length).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    for number, piece in enumerate(pieces, 1):
        await send({"type": "http.response.body", "body": piece, "more_body": number < len(pieces)})


@pytest.fixture
def ascope_of(aconnect: AsyncConnect, redis_server: RedisBackend) -> AsyncScopes:
    """Makes a scope with options."""

    def scope_of(**options: Any) -> fencepost.asyncio.Idempotency:
        return aconnect(redis_server.url).idempotency(redis_server.prefix, **options)

    return scope_of


@pytest.fixture
def app() -> App:
    app = App()
    app.gate.set()
    return app


def protect(app: App, payments: fencepost.asyncio.Idempotency, **settings: Any) -> AsgiMiddleware:
    return AsgiMiddleware(app, payments, scope=asgi_tenant, secret=SECRET, **settings)


async def test_a_cancelled_request_goes_on(ascope_of: AsyncScopes, app: App) -> None:
    web = protect(app, ascope_of(), wait=30)
    app.gate.clear()
    request = asyncio.create_task(call_asgi(web, asgi_scope()))
    await wait_until_async(lambda: app.runs, "the handler runs")
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    app.gate.set()
    retry = await call_asgi(web, asgi_scope())
    assert (retry.status, retry.body, retry.replayed, app.runs) == (201, b"run 1", True, 1)


async def test_a_shutdown_waits_for_what_goes_on(ascope_of: AsyncScopes, app: App) -> None:
    web = protect(app, ascope_of())
    app.gate.clear()
    request = asyncio.create_task(call_asgi(web, asgi_scope()))
    await wait_until_async(lambda: app.runs, "the handler runs")
    request.cancel()
    seen: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.shutdown"}

    async def send(message: Any) -> None:
        seen.append(message)

    shutdown = asyncio.create_task(web({"type": "lifespan"}, receive, send))
    await asyncio.sleep(0)
    assert not seen
    app.gate.set()
    await shutdown
    assert seen == [{"type": "seen", "message": {"type": "lifespan.shutdown"}}]
    assert (await call_asgi(web, asgi_scope())).replayed


async def test_what_a_shutdown_cannot_wait_for_is_left(ascope_of: AsyncScopes, app: App) -> None:
    payments = ascope_of()
    web = protect(app, payments)
    app.gate.clear()
    request = asyncio.create_task(call_asgi(web, asgi_scope()))
    await wait_until_async(lambda: app.runs, "the handler runs")
    await web.drain(0.01)
    with pytest.raises(asyncio.CancelledError):
        await request
    app.gate.set()
    assert (await call_asgi(web, asgi_scope())).body == b"run 2"
    record = await payments.look(record_key("shop-7", "order-17"))
    assert record is not None
    assert (record.takeovers, record.tag) == (1, "http-response:1")


async def test_the_result_of_another_attempt_that_was_first(ascope_of: AsyncScopes, app: App) -> None:
    web = protect(app, ascope_of(**SHORT), wait=30)
    app.gate.clear()
    slow = asyncio.create_task(call_asgi(web, asgi_scope()))
    await wait_until_async(lambda: app.runs, "the handler runs")

    async def quick(scope: Any, receive: Any, send: Any) -> None:
        assert scope["fencepost.claim"].takeovers == 1
        await respond(send, b"quick")

    app.handle = quick
    assert (await call_asgi(web, asgi_scope())).body == b"quick"
    app.gate.set()
    late = await slow
    assert (late.body, late.replayed, app.runs) == (b"quick", True, 2)


async def test_the_handler_may_end_its_claim_itself(
    ascope_of: AsyncScopes, app: App, caplog: pytest.LogCaptureFixture
) -> None:
    web = protect(app, ascope_of())

    async def release(scope: Any, receive: Any, send: Any) -> None:
        await scope["fencepost.claim"].release()
        await respond(send, b"nothing happened")

    app.handle = release
    first = await call_asgi(web, asgi_scope())
    assert (first.status, first.stored) == (201, False)
    assert not caplog.records
    app.handle = app.pay
    assert (await call_asgi(web, asgi_scope())).body == b"run 2"


@pytest.mark.parametrize("fails", ["before", "within", "silently"])
async def test_a_handler_that_fails_leaves_its_claim(ascope_of: AsyncScopes, app: App, fails: str) -> None:
    web = protect(app, ascope_of())

    async def fail(scope: Any, receive: Any, send: Any) -> None:
        if fails == "within":
            await send({"type": "http.response.start", "status": 201, "headers": []})
            await send({"type": "http.response.body", "body": b"begins", "more_body": True})
        if fails != "silently":
            raise OSError("the disk is full")

    app.handle = fail
    if fails == "silently":
        await call_asgi(web, asgi_scope())
    else:
        with pytest.raises(OSError, match="the disk is full"):
            await call_asgi(web, asgi_scope())
    app.handle = app.pay
    retry = await call_asgi(web, asgi_scope())
    assert (retry.body, retry.replayed) == (b"run 2", False)


async def test_the_handler_does_not_learn_that_its_client_hangs_up(ascope_of: AsyncScopes, app: App) -> None:
    web = protect(app, ascope_of())

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        hung_up = asyncio.create_task(receive())
        # The client has disconnected: all of its messages were read.
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begins", "more_body": True})
        assert not hung_up.done()
        await send({"type": "http.response.body", "body": b"ends", "more_body": False})
        assert await hung_up == {"type": "http.disconnect"}

    app.handle = handle
    assert (await call_asgi(web, asgi_scope())).body == b"beginsends"


async def test_a_client_that_is_gone_changes_nothing(ascope_of: AsyncScopes, app: App) -> None:
    """Some servers raise OSError when the client has disconnected."""
    web = protect(app, ascope_of())

    async def on_piece(piece: bytes) -> None:
        raise ConnectionResetError

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, b"abc", b"def")

    app.handle = handle
    await call_asgi(web, asgi_scope(), on_piece=on_piece)
    assert (await call_asgi(web, asgi_scope())).replayed


async def test_what_follows_the_response_changes_nothing(ascope_of: AsyncScopes, app: App) -> None:
    web = protect(app, ascope_of())

    async def background(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await respond(send, b"done")
        assert await receive() == {"type": "http.disconnect"}
        raise OSError("a background task has failed")

    app.handle = background
    with pytest.raises(OSError, match="background"):
        await call_asgi(web, asgi_scope())
    assert (await call_asgi(web, asgi_scope())).body == b"done"


@pytest.mark.parametrize(
    ("pieces", "length", "stored"),
    [
        ([b"aa", b"bb", b""], 4, True),
        ([b"aa", b"bb"], None, False),
        ([b"a" * 20, b"b" * 20, b""], 40, False),
        ([b"a" * 40], None, False),
        ([b"a" * 20, b"b" * 20, b"c"], 4, False),
    ],
    ids=["announced", "stream", "announced, too large", "whole, too large", "longer than announced"],
)
async def test_the_claim_ends_before_the_last_byte(
    ascope_of: AsyncScopes, app: App, pieces: list[bytes], length: int | None, stored: bool
) -> None:
    payments = ascope_of()
    web = protect(app, payments, max_result=30)
    sent = 0

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, *pieces, length=length)

    async def on_piece(piece: bytes) -> None:
        nonlocal sent
        sent += len(piece)
        record = await payments.look(record_key("shop-7", "order-17"))
        if sent == sum(map(len, pieces)):
            assert record is not None
            assert record.state == "done"

    app.handle = handle
    first = await call_asgi(web, asgi_scope(), on_piece=on_piece)
    assert (first.body, first.stored) == (b"".join(pieces), stored)
    # The middleware does not hold back a body that it does not store.
    assert len(first.pieces) > 1 or stored or len(pieces) == 1
    retry = await call_asgi(web, asgi_scope())
    assert (retry.status, retry.body, retry.stored) == (201, first.body if stored else b"", stored)


async def test_a_stream_flows(ascope_of: AsyncScopes, app: App) -> None:
    web = protect(app, ascope_of())
    received = asyncio.Event()

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        # The client receives the first piece before the handler sends more.
        await received.wait()
        await send({"type": "http.response.body", "body": b"last", "more_body": False})

    async def on_piece(piece: bytes) -> None:
        received.set()

    app.handle = handle
    assert (await call_asgi(web, asgi_scope(), on_piece=on_piece)).pieces == [b"first", b"last"]


async def test_the_handler_sees_the_request_and_its_claim(ascope_of: AsyncScopes, app: App) -> None:
    payments = ascope_of()
    web = protect(app, payments)
    seen: list[Any] = []

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        claim = scope["fencepost.claim"]
        seen.extend([claim.derive("charge"), claim.fence > 0, scope["extensions"]])
        seen.append((await receive())["body"])
        await respond(send, b"")

    app.handle = handle
    scope = asgi_scope()
    await call_asgi(web, scope)
    derived = payments._operations.derive(record_key("shop-7", "order-17"), "charge")
    # A response that the server would send by itself would bypass the middleware.
    assert seen == [derived, True, {"tls": {}}, BODY]
    assert "fencepost.claim" not in scope


async def test_a_record_that_is_no_response(ascope_of: AsyncScopes, app: App) -> None:
    payments = ascope_of()
    print_ = form.fingerprint(SECRET, b"POST", b"/pay", b"", BODY)
    await payments.register(record_key("shop-7", "order-17"), {"status": 200}, fingerprint=print_)
    response = await call_asgi(protect(app, payments, fail_open=True), asgi_scope())
    assert (response.status, app.runs) == (500, 0)
    assert b"corrupt-record" in response.body


async def test_what_passes_through(ascope_of: AsyncScopes, app: App) -> None:
    def covers(scope: Any) -> bool:
        return bool(scope["path"] == "/pay")

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, f"run {app.runs}".encode())

    app.handle = handle
    web = protect(app, ascope_of(), required=False, covers=covers, methods=["PUT"], tokens=True)
    for scope in (
        asgi_scope(),
        asgi_scope(method="PUT", path="/other"),
        asgi_scope(None, method="PUT"),
        asgi_scope(None, method="PUT", **{"content-type": "application/x-www-form-urlencoded"}),
    ):
        response = await call_asgi(web, scope)
        assert (response.body, response.stored) == (f"run {app.runs}".encode(), True)
    assert app.runs == 4
    assert (await call_asgi(web, asgi_scope(method="PUT"))).body == b"run 5"
    assert (await call_asgi(web, asgi_scope(method="PUT"))).replayed
    assert (await call_asgi(web, asgi_scope("", method="PUT"))).status == 400


async def test_a_websocket_passes_through(ascope_of: AsyncScopes, app: App) -> None:
    seen: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        seen.append(message)

    await protect(app, ascope_of())({"type": "websocket"}, receive, send)
    assert seen == [{"type": "seen", "message": {"type": "websocket.connect"}}]


async def test_half_a_request_runs_nothing(ascope_of: AsyncScopes, app: App) -> None:
    messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return messages.pop(0)

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await protect(app, ascope_of())(asgi_scope(), receive, send)
    assert (app.runs, sent[0]["status"]) == (0, 400)


@pytest.mark.parametrize(
    ("given", "says"), [(None, "is None"), (7, "is 7"), ("", "is empty"), ("\ud800", "surrogate")]
)
async def test_a_tenant_is_a_text(ascope_of: AsyncScopes, app: App, given: Any, says: str) -> None:
    async def tenant(scope: Any) -> Any:
        return given

    web = AsgiMiddleware(app, ascope_of(), scope=tenant, secret=SECRET)
    with pytest.raises(fencepost.ConfigError, match=says):
        await call_asgi(web, asgi_scope())
    assert app.runs == 0


async def test_a_form_token_is_issued_for_a_page(ascope_of: AsyncScopes, app: App) -> None:
    payments = ascope_of()
    web = protect(app, payments, tokens=True)
    token = await issue_token_async(payments, "shop-7")
    assert token_field(token) == f'<input type="hidden" name="idempotency-token" value="{token}">'
    responses: list[Response] = []
    for _ in range(2):
        scope = asgi_scope(None, **{"idempotency-token": token})
        responses.append(await call_asgi(web, scope))
    assert [each.replayed for each in responses] == [False, True]
    with pytest.raises(fencepost.ConfigError, match="a scope of a client for asyncio"):
        await issue_token_async(object(), "shop-7")  # type: ignore[arg-type]


async def test_the_scope_may_be_given_by_a_function(ascope_of: AsyncScopes, app: App) -> None:
    payments = ascope_of()
    web = AsgiMiddleware(app, lambda: payments, scope=asgi_tenant, secret=SECRET.decode())
    assert (await call_asgi(web, asgi_scope())).body == b"run 1"
    wrong: Any = AsgiMiddleware(app, lambda: app, scope=asgi_tenant, secret=SECRET)  # type: ignore[arg-type, return-value]
    with pytest.raises(fencepost.ConfigError, match=r"give a scope of a client of fencepost\.asyncio"):
        await call_asgi(wrong, asgi_scope())
