"""The ends of requests in the ASGI middleware: clients that disconnect, and streams that fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from calls import SECRET, asgi_scope, asgi_tenant, call_asgi
from conftest import AsyncConnect
from fencepost.web import AsgiMiddleware, _asgi
from support import LONG, RedisBackend

Protect = Callable[[Any], AsgiMiddleware]


@pytest.fixture
def protect(aconnect: AsyncConnect, redis_server: RedisBackend) -> Protect:
    def protect(app: Any) -> AsgiMiddleware:
        payments = aconnect(redis_server.url).idempotency(redis_server.prefix)
        return AsgiMiddleware(app, payments, scope=asgi_tenant, secret=SECRET)

    return protect


class Connection:
    """A connection whose client disconnects when the test sets an event."""

    def __init__(self) -> None:
        self.hung_up = asyncio.Event()
        self.sent: list[Any] = []
        self._is_read = False

    async def receive(self) -> Any:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": b"{}"}
        await self.hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


async def start(send: Any, *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": 201, "headers": headers})


async def piece(send: Any, body: bytes, more: bool) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


@pytest.mark.parametrize("streams", [False, True])
async def test_a_request_ends_after_its_client_has_gone(
    protect: Protect, monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    """Servers such as uvicorn wait for their requests before the shutdown, without a limit."""
    monkeypatch.setattr(_asgi, "_DRAIN_WITHIN", 0.01)
    entered, ended = asyncio.Event(), asyncio.Event()

    async def wait_for_the_disconnect(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        if streams:
            await start(send)
            await piece(send, b"begins", True)
        entered.set()
        try:
            await receive()
        finally:
            ended.set()

    web, client = protect(wait_for_the_disconnect), Connection()
    request = asyncio.create_task(web(asgi_scope(), client.receive, client.send))
    await entered.wait()
    client.hung_up.set()
    await asyncio.wait_for(request, LONG)
    # Some middleware around this one requires a response.
    assert client.sent[0]["status"] == (201 if streams else 400)
    assert not ended.is_set()
    await web.drain(0.01)
    assert ended.is_set()


async def test_a_handler_ends_after_its_request(protect: Protect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_asgi, "_DRAIN_WITHIN", 0.01)
    gate, client = asyncio.Event(), Connection()

    async def pay(scope: Any, receive: Any, send: Any) -> None:
        await gate.wait()
        await start(send)
        await piece(send, b"paid", False)

    web = protect(pay)
    client.hung_up.set()
    await asyncio.wait_for(web(asgi_scope(), client.receive, client.send), LONG)
    sent = list(client.sent)
    gate.set()
    await web.drain(LONG)
    assert client.sent == sent
    retry = Connection()
    await web(asgi_scope(), retry.receive, retry.send)
    assert (b"idempotent-replayed", b"true") in retry.sent[0]["headers"]
    assert retry.sent[1]["body"] == b"paid"


async def test_what_follows_a_response_has_no_limit(
    protect: Protect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starlette's background tasks run in the request. After the response, a server reports a disconnect."""
    monkeypatch.setattr(_asgi, "_DRAIN_WITHIN", 0)
    client, done = Connection(), False

    async def pay(scope: Any, receive: Any, send: Any) -> None:
        nonlocal done
        await start(send)
        await piece(send, b"paid", False)
        client.hung_up.set()
        await asyncio.sleep(0.05)
        done = True

    await protect(pay)(asgi_scope(), client.receive, client.send)
    assert done


@pytest.mark.parametrize("length", [None, 20])
@pytest.mark.parametrize("begins", [b"", b"first half"])
async def test_a_body_that_ends_by_a_failure(protect: Protect, length: int | None, begins: bytes) -> None:
    """Starlette's BaseHTTPMiddleware ends the body first, and then raises the exception."""
    runs = 0

    async def fail(scope: Any, receive: Any, send: Any) -> None:
        nonlocal runs
        runs += 1
        await start(send, *([] if length is None else [(b"content-length", b"%d" % length)]))
        if begins:
            await piece(send, begins, True)
        await piece(send, b"", False)
        # The application may wait for this before it raises.
        assert (await receive())["type"] == "http.request"
        assert await receive() == {"type": "http.disconnect"}
        raise ConnectionError("the database is gone")

    web = protect(fail)
    for run in (1, 2):
        client = Connection()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(web(asgi_scope(), client.receive, client.send), LONG)
        assert runs == run
        # The client must not treat half of a body as the whole body.
        assert not any(message.get("more_body") is False for message in client.sent)


async def test_a_body_that_ends_well(protect: Protect) -> None:
    """The end of a stream waits for the application's return."""
    client, before = Connection(), []

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await piece(send, b"whole", True)
        await piece(send, b"", False)
        before.extend(client.sent)

    web = protect(stream)
    await web(asgi_scope(), client.receive, client.send)
    assert [message.get("body") for message in before] == [None, b"whole"]
    assert client.sent[2:] == [{"type": "http.response.body", "body": b"", "more_body": False}]
    retry = Connection()
    await web(asgi_scope(), retry.receive, retry.send)
    assert (b"idempotent-replayed", b"true") in retry.sent[0]["headers"]


@pytest.mark.parametrize("headers", [[(b"content-length", b"0")], []])
async def test_an_empty_body_is_stored(protect: Protect, headers: list[tuple[bytes, bytes]]) -> None:
    async def pay(scope: Any, receive: Any, send: Any) -> None:
        await start(send, *headers)
        await piece(send, b"", False)

    web = protect(pay)
    assert (await call_asgi(web, asgi_scope())).stored
    retry = await call_asgi(web, asgi_scope())
    assert (retry.status, retry.body, retry.stored, retry.replayed) == (201, b"", True, True)


async def test_a_body_that_is_longer_than_announced(protect: Protect) -> None:
    async def pay(scope: Any, receive: Any, send: Any) -> None:
        await start(send, (b"content-length", b"3"))
        await piece(send, b"abcdef", False)

    web = protect(pay)
    first = await call_asgi(web, asgi_scope())
    assert (first.body, first.stored, first.headers["content-length"]) == (b"abcdef", False, "3")
    retry = await call_asgi(web, asgi_scope())
    assert (retry.status, retry.body, retry.stored, retry.replayed) == (201, b"", False, True)


async def test_a_response_that_starts_twice_is_a_failure(protect: Protect) -> None:
    """Without the middleware, servers raise an error at the second start, too."""
    runs = 0

    async def pay(scope: Any, receive: Any, send: Any) -> None:
        nonlocal runs
        runs += 1
        for _ in range(2 if runs == 1 else 1):
            await start(send, (b"content-length", b"3"))
        await piece(send, b"abc", False)

    web, first, client = protect(pay), Connection(), Connection()
    with pytest.raises(RuntimeError, match=r"http\.response\.start twice"):
        await web(asgi_scope(), first.receive, first.send)
    assert first.sent == []
    await web(asgi_scope(), client.receive, client.send)
    assert (client.sent[1]["body"], runs) == (b"abc", 2)


async def test_the_length_of_an_answer_to_head(aconnect: AsyncConnect, redis_server: RedisBackend) -> None:
    """It is the length of the response to GET, which is not stored."""

    async def look(scope: Any, receive: Any, send: Any) -> None:
        await start(send, (b"content-length", b"3"))
        await piece(send, b"", False)

    payments = aconnect(redis_server.url).idempotency(redis_server.prefix)
    web = AsgiMiddleware(look, payments, scope=asgi_tenant, secret=SECRET, methods=["HEAD"])
    first = await call_asgi(web, asgi_scope(method="HEAD"))
    retry = await call_asgi(web, asgi_scope(method="HEAD"))
    lengths = [response.headers.get("content-length") for response in (first, retry)]
    assert (lengths, retry.replayed) == (["3", None], True)
