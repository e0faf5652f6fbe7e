"""The middlewares between a server and a framework: what both of them do besides serving a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from calls import SECRET, asgi_scope, asgi_tenant, call_asgi, call_wsgi, wsgi_environ, wsgi_tenant
from conftest import AsyncConnect, Connect
from fencepost.web import AsgiMiddleware, WsgiMiddleware
from fencepost.web import _form as form
from support import RedisBackend, wait_until_async


@pytest.fixture
def in_asgi(aconnect: AsyncConnect, redis_server: RedisBackend) -> Callable[[Any], AsgiMiddleware]:
    def protect(app: Any) -> AsgiMiddleware:
        payments = aconnect(redis_server.url).idempotency(redis_server.prefix)
        return AsgiMiddleware(app, payments, scope=asgi_tenant, secret=SECRET)

    return protect


@pytest.fixture
def in_wsgi(connect: Connect, redis_server: RedisBackend) -> Callable[[Any], WsgiMiddleware]:
    payments = connect(redis_server.url).idempotency(redis_server.prefix)
    return lambda app: WsgiMiddleware(app, payments, scope=wsgi_tenant, secret=SECRET)


class Stop(BaseException):
    """What pytest and gevent raise is no Exception either."""


@pytest.mark.parametrize("error", [Stop("no"), SystemExit(3)], ids=["other", "exit"])
async def test_an_exit_of_the_handler_is_the_requests(
    in_asgi: Callable[[Any], AsgiMiddleware], error: BaseException
) -> None:
    """In a task of its own, SystemExit would end the event loop, and another one be dropped."""

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        raise error

    with pytest.raises(type(error)):
        await call_asgi(in_asgi(handle), asgi_scope())


@pytest.mark.parametrize("error", [Stop("no"), SystemExit(3)], ids=["other", "exit"])
async def test_an_exit_after_the_client_has_gone_is_logged(
    in_asgi: Callable[[Any], AsgiMiddleware], error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    entered, gate = asyncio.Event(), asyncio.Event()

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        entered.set()
        await gate.wait()
        raise error

    request = asyncio.create_task(call_asgi(in_asgi(handle), asgi_scope()))
    await entered.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    gate.set()
    await wait_until_async(lambda: "whose client has gone" in caplog.text, "the log says so")


async def test_the_middleware_twice_is_the_middleware_once(
    in_asgi: Callable[[Any], AsgiMiddleware], in_wsgi: Callable[[Any], WsgiMiddleware]
) -> None:
    """On an application, and on one that is mounted in it: the inner one must not wait for the outer one."""

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"paid"})

    def respond(environ: Any, start_response: Any) -> Any:
        start_response("201 Created", [])
        return [b"paid"]

    for replayed in (False, True):
        both = await call_asgi(in_asgi(in_asgi(handle)), asgi_scope())
        assert (both.status, both.body, both.replayed) == (201, b"paid", replayed)
    for replayed in (False, True):
        both = call_wsgi(in_wsgi(in_wsgi(respond)), wsgi_environ("another"))
        assert (both.status, both.body, both.replayed) == (201, b"paid", replayed)


def test_scheme_and_authority_are_no_part_of_the_route() -> None:
    assert form.route_of(b"http://shop.example:80/a%20b?x=1") == b"/a b"
    assert form.route_of(b"http://shop.example") == b"/"
    assert form.route_of(b"/http://shop.example") == b"/http://shop.example"


def test_an_error_of_close_comes_after_the_response(in_wsgi: Callable[[Any], WsgiMiddleware]) -> None:
    """Flask's call_on_close, and Django's request_finished: the server closes, once, after it has sent."""

    class Closing(list[bytes]):
        closed = 0

        def close(self) -> None:
            self.closed += 1
            raise ZeroDivisionError

    result = Closing([b"paid"])

    def handle(environ: Any, start_response: Any) -> Any:
        start_response("201 Created", [])
        return result

    sent = iter(in_wsgi(handle)(wsgi_environ(), lambda status, headers: None))
    assert (list(sent), result.closed) == ([b"paid"], 0)
    with pytest.raises(ZeroDivisionError):
        call_wsgi(in_wsgi(handle), wsgi_environ("another"))
    assert result.closed == 1
    for key in ("order-17", "another"):
        retry = call_wsgi(in_wsgi(handle), wsgi_environ(key))
        assert (retry.status, retry.body, retry.replayed) == (201, b"paid", True)


def test_a_response_of_django_is_whole_unless_it_streams(in_wsgi: Callable[[Any], WsgiMiddleware]) -> None:
    """Without its CommonMiddleware, it has no length."""

    class Whole:
        streaming = False

        def __iter__(self) -> Iterator[bytes]:
            return iter([b"pa", b"id"])

    def handle(environ: Any, start_response: Any) -> Any:
        start_response("201 Created", [])
        return Whole()

    assert call_wsgi(in_wsgi(handle), wsgi_environ()).stored
    assert call_wsgi(in_wsgi(handle), wsgi_environ()).body == b"paid"


def test_what_a_stream_writes_comes_before_its_next_piece(in_wsgi: Callable[[Any], WsgiMiddleware]) -> None:
    def handle(environ: Any, start_response: Any) -> Iterator[bytes]:
        write = start_response("200 OK", [])
        yield b"a"
        write(b"WRITTEN")
        yield b"b"
        write(b"LAST")

    assert call_wsgi(in_wsgi(handle), wsgi_environ()).body == b"aWRITTENbLAST"


def test_a_length_that_is_no_number_is_no_length(in_wsgi: Callable[[Any], WsgiMiddleware]) -> None:
    def handle(environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [])
        return [environ["wsgi.input"].read() or b"nothing"]

    environ = wsgi_environ(CONTENT_LENGTH="\xb2")
    assert call_wsgi(in_wsgi(handle), environ).body == b"nothing"
