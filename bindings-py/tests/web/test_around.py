"""The middleware between a server and a framework: its behaviour besides serving a request."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from calls import SECRET, asgi_scope, asgi_tenant, call_asgi, call_wsgi, wsgi_environ, wsgi_tenant
from conftest import AsyncConnect, Connect
from fencepost.web import AsgiMiddleware, WsgiMiddleware, record_key
from fencepost.web import _form as form
from support import RedisBackend, wait_until_async

TOKEN = "a-secret-token"


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


async def paid_in_asgi(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b"paid"})


def paid_in_wsgi(environ: Any, start_response: Any) -> Any:
    start_response("201 Created", [])
    return [b"paid"]


class Stop(BaseException):
    """An exception such as those of pytest and gevent, which are no subclasses of Exception."""


@pytest.mark.parametrize("error", [Stop("no"), SystemExit(3)], ids=["other", "exit"])
async def test_an_exit_of_the_handler_is_the_requests(
    in_asgi: Callable[[Any], AsgiMiddleware], error: BaseException
) -> None:
    """In a separate task, SystemExit would end the event loop, and others would be dropped."""

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
    """The middleware is on an application and on one that is mounted in it. The inner one must not wait for
    the outer one.
    """

    for replayed in (False, True):
        both = await call_asgi(in_asgi(in_asgi(paid_in_asgi)), asgi_scope())
        assert (both.status, both.body, both.replayed) == (201, b"paid", replayed)
    for replayed in (False, True):
        both = call_wsgi(in_wsgi(in_wsgi(paid_in_wsgi)), wsgi_environ("another"))
        assert (both.status, both.body, both.replayed) == (201, b"paid", replayed)


def test_scheme_and_authority_are_no_part_of_the_route() -> None:
    assert form.route_of(b"http://shop.example:80/a%20b?x=1") == b"/a b"
    assert form.route_of(b"http://shop.example") == b"/"
    assert form.route_of(b"/http://shop.example") == b"/http://shop.example"


def test_an_error_of_close_comes_after_the_response(in_wsgi: Callable[[Any], WsgiMiddleware]) -> None:
    """As Flask's call_on_close and Django's request_finished: the server closes the response once, after it
    has sent it.
    """

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
    """Without Django's CommonMiddleware, it has no length."""

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


@pytest.mark.parametrize("fail_open", [False, True])
@pytest.mark.parametrize("kind", ["asgi", "wsgi"])
async def test_the_log_has_no_key_and_no_token(
    kind: str, fail_open: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A form token is the key of its operation."""
    settings: dict[str, Any] = {
        "secret": SECRET,
        "fail_open": fail_open,
        "tokens": True,
        "token_path": "/tokens",
    }
    url, options = "redis://127.0.0.1:1", {"connect_timeout": 0.2}
    statuses = []
    if kind == "asgi":
        async with fencepost.asyncio.connect(url, **options) as client:
            web = AsgiMiddleware(paid_in_asgi, client.idempotency("shop"), scope=asgi_tenant, **settings)
            for scope in (
                asgi_scope(None, **{"idempotency-token": TOKEN}),
                asgi_scope("a-secret-key"),
                asgi_scope(None, "/tokens"),
            ):
                statuses.append((await call_asgi(web, scope)).status)
    else:
        with fencepost.connect(url, **options) as threads:
            wsgi = WsgiMiddleware(paid_in_wsgi, threads.idempotency("shop"), scope=wsgi_tenant, **settings)
            for environ in (
                wsgi_environ(None, HTTP_IDEMPOTENCY_TOKEN=TOKEN),
                wsgi_environ("a-secret-key"),
                wsgi_environ(None, PATH_INFO="/tokens"),
            ):
                statuses.append(call_wsgi(wsgi, environ).status)
    assert statuses == ([201, 201, 503] if fail_open else [503] * 3)
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("web: ")]
    refused = "the handler runs without a claim" if fail_open else "a request was refused"
    for what, text in zip([refused, refused, "no token was issued"], said, strict=True):
        assert text.startswith(f"web: {what}: shop: no server answered in time: {url}")
        assert not re.search("secret|http-token|http:1", text)


async def test_what_is_not_stored_is_logged_without_its_token(
    in_asgi: Callable[[Any], AsgiMiddleware],
    in_wsgi: Callable[[Any], WsgiMiddleware],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An operator has forgotten the claim's record meanwhile."""
    aweb, web = in_asgi(None), in_wsgi(None)
    apayments: Any = aweb._idempotency
    payments: Any = web._idempotency
    scope = payments._operations.scope

    async def forget_async(request: Any, receive: Any, send: Any) -> None:
        key = record_key("shop-7", "a-secret-key")
        await apayments.forget(key, await apayments.look(key))
        await paid_in_asgi(request, receive, send)

    def forget(environ: Any, start_response: Any) -> Any:
        key = record_key("shop-7", "a-secret-key")
        payments.forget(key, payments.look(key))
        return paid_in_wsgi(environ, start_response)

    aweb.app, web.app = forget_async, forget
    assert not (await call_asgi(aweb, asgi_scope("a-secret-key"))).stored
    assert not call_wsgi(web, wsgi_environ("a-secret-key")).stored
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("web: ")]
    assert [text.startswith(f"web: a response was not stored: {scope}: ") for text in said] == [True, True]
    assert "http:1" not in "".join(said)


async def test_middleware_outside_sees_what_the_application_notes(
    in_asgi: Callable[[Any], AsgiMiddleware], in_wsgi: Callable[[Any], WsgiMiddleware]
) -> None:
    """For example, the route of the request, for metrics. Only the handler sees the claim and the body."""
    sent: list[Any] = []

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        scope["route"] = "/orders/{n}"
        scope.setdefault("state", {})["user"] = "u7"
        await paid_in_asgi(scope, receive, send)
        scope["state"]["late"] = scope["late"] = True

    scope = asgi_scope()
    given = dict(scope)

    async def on_piece(piece: bytes) -> None:
        sent.append((scope.get("route"), scope.get("state"), scope.get("late")))

    await call_asgi(in_asgi(handle), scope, on_piece=on_piece)
    assert sent == [("/orders/{n}", {"user": "u7", "late": True}, None)]
    assert scope == {**given, "route": "/orders/{n}", "state": {"user": "u7", "late": True}, "late": True}

    def respond(environ: Any, start_response: Any) -> Any:
        environ["shop.user"], environ["PATH_INFO"] = "u7", "/other"
        return paid_in_wsgi(environ, start_response)

    environ = wsgi_environ("another")
    before = dict(environ)
    result = in_wsgi(respond)(environ, lambda status, headers: sent.append(environ.get("shop.user")))
    assert (list(result), sent[-1]) == ([b"paid"], "u7")
    assert environ == {**before, "shop.user": "u7", "PATH_INFO": "/other"}


def test_so_it_does_without_a_claim(connect: Connect, redis_server: RedisBackend) -> None:
    """Of a form without a token, the middleware has read the body."""

    def respond(environ: Any, start_response: Any) -> Any:
        environ["shop.user"] = environ["wsgi.input"].read()
        return paid_in_wsgi(environ, start_response)

    payments = connect(redis_server.url).idempotency(redis_server.prefix)
    web = WsgiMiddleware(respond, payments, scope=wsgi_tenant, secret=SECRET, required=False, tokens=True)
    environ = wsgi_environ(None, b"a=b", CONTENT_TYPE="application/x-www-form-urlencoded")
    before = dict(environ)
    assert call_wsgi(web, environ).body == b"paid"
    assert environ == {**before, "shop.user": b"a=b"}
