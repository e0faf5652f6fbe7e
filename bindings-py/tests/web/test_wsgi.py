"""The WSGI middleware on a real Redis: cases that a client of a real server cannot cause."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import fencepost
import pytest
from calls import BODY, SECRET, call_wsgi, wsgi_environ, wsgi_tenant
from conftest import Connect
from fencepost.web import WsgiMiddleware, issue_token, record_key
from fencepost.web import _form as form
from support import RedisBackend

Scopes = Callable[..., fencepost.Idempotency]


class App:
    """An application with a handler from the test."""

    def __init__(self) -> None:
        self.runs = 0
        self.closed = 0
        self.handle: Callable[..., Any] = self.pay

    def __call__(self, environ: Any, start_response: Any) -> Any:
        self.runs += 1
        return self.handle(environ, start_response)

    def pay(self, environ: Any, start_response: Any) -> Any:
        """Responds with the number of the run."""
        assert environ["wsgi.input"].read() == BODY
        # With a file wrapper, the server would send a file itself.
        assert "wsgi.file_wrapper" not in environ or "fencepost.claim" not in environ
        start_response("201 Created", [("Location", "/orders/17"), ("Set-Cookie", "a=1")])
        return [f"run {self.runs}".encode()]

    def pieces(self, *pieces: bytes, length: int | None = None, fails: bool = False) -> Callable[..., Any]:
        """A handler that sends its body in pieces, and calls start_response with the first one."""
        app = self

        class Body:
            def __init__(self, start_response: Any) -> None:
                self.start_response = start_response

            def __iter__(self) -> Iterator[bytes]:
                headers = [] if length is None else [("Content-Length", str(length))]
                self.start_response("200 OK", headers)
                yield from pieces
                if fails:
                    raise OSError("the disk is full")

            def close(self) -> None:
                app.closed += 1

        return lambda environ, start_response: Body(start_response)


@pytest.fixture
def scope_of(connect: Connect, redis_server: RedisBackend) -> Scopes:
    """Makes a scope with options."""

    def scope_of(**options: Any) -> fencepost.Idempotency:
        return connect(redis_server.url).idempotency(redis_server.prefix, **options)

    return scope_of


@pytest.fixture
def app() -> App:
    return App()


def protect(app: App, payments: fencepost.Idempotency, **settings: Any) -> WsgiMiddleware:
    return WsgiMiddleware(app, payments, scope=wsgi_tenant, secret=SECRET, **settings)


def test_a_retry_gets_the_first_response(scope_of: Scopes, app: App) -> None:
    web = protect(app, scope_of())
    first = call_wsgi(web, wsgi_environ())
    assert (first.status, first.body, first.headers["set-cookie"]) == (201, b"run 1", "a=1")
    retry = call_wsgi(web, wsgi_environ())
    assert (retry.status, retry.body, retry.replayed, app.runs) == (201, b"run 1", True, 1)
    assert retry.headers["location"] == "/orders/17"


@pytest.mark.parametrize(
    ("pieces", "length", "stored"),
    [
        ([], None, True),
        ([b"aa", b"bb"], 4, True),
        ([b"aa", b"bb"], None, False),
        ([b"a" * 20, b"b" * 20], 40, False),
        ([b"a" * 20, b"b" * 20], 4, False),
    ],
    ids=["empty", "announced", "stream", "announced, too large", "longer than announced"],
)
def test_a_body_in_pieces(
    scope_of: Scopes, app: App, pieces: list[bytes], length: int | None, stored: bool
) -> None:
    payments = scope_of()
    web = protect(app, payments, max_result=30)
    app.handle = app.pieces(*pieces, length=length)
    first = call_wsgi(web, wsgi_environ())
    assert (first.body, first.stored, app.closed) == (b"".join(pieces), stored, 1)
    # The middleware does not hold back a body that it does not store.
    assert stored or len(first.pieces) > 1
    retry = call_wsgi(web, wsgi_environ())
    assert (retry.status, retry.body, retry.stored) == (200, first.body if stored else b"", stored)
    assert app.runs == 1


def test_a_body_that_is_longer_than_announced(scope_of: Scopes, app: App) -> None:
    def pay(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "3")])
        return [b"abcdef"]

    web, app.handle = protect(app, scope_of()), pay
    first = call_wsgi(web, wsgi_environ())
    assert (first.body, first.stored, first.headers["content-length"]) == (b"abcdef", False, "3")
    retry = call_wsgi(web, wsgi_environ())
    assert (retry.status, retry.body, retry.stored, retry.replayed) == (200, b"", False, True)
    assert app.runs == 1


def test_the_length_of_an_answer_to_head(scope_of: Scopes, app: App) -> None:
    """It is the length of the response to GET, which is not stored."""

    def look(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "3")])
        return []

    web, app.handle = protect(app, scope_of(), methods=["HEAD"]), look
    first, retry = (call_wsgi(web, wsgi_environ(REQUEST_METHOD="HEAD")) for _ in range(2))
    lengths = [response.headers.get("content-length") for response in (first, retry)]
    assert (lengths, retry.replayed) == (["3", None], True)


@pytest.mark.parametrize("length", [None, 9])
def test_the_claim_ends_before_the_last_byte(scope_of: Scopes, app: App, length: int | None) -> None:
    payments = scope_of()
    web = protect(app, payments, max_result=5)
    app.handle = app.pieces(b"abc", b"def", b"ghi", length=length)

    def state() -> str:
        record = payments.look(record_key("shop-7", "order-17"))
        return "" if record is None else record.state

    result = web(wsgi_environ(), lambda *_: None)
    stream = iter(result)
    states = []
    for _ in range(3):
        next(stream)
        states.append(state())
    assert states == ["running", "running", "running" if length is None else "done"]
    assert next(stream, None) is None
    assert state() == "done"
    result.close()  # type: ignore[attr-defined]


def test_a_stream_survives_its_client(scope_of: Scopes, app: App) -> None:
    web = protect(app, scope_of())
    app.handle = app.pieces(b"abc", b"def", b"ghi")
    assert call_wsgi(web, wsgi_environ(), most=1).body == b"abc"
    retry = call_wsgi(web, wsgi_environ())
    assert (retry.status, retry.replayed, retry.stored, app.runs, app.closed) == (200, True, False, 1, 1)


@pytest.mark.parametrize("pieces", [[], [b"abc", b"def"]])
def test_a_handler_that_fails_leaves_its_claim(scope_of: Scopes, app: App, pieces: list[bytes]) -> None:
    web = protect(app, scope_of())
    app.handle = app.pieces(*pieces, fails=True)
    with pytest.raises(OSError, match="the disk is full"):
        call_wsgi(web, wsgi_environ())
    assert app.closed == 1
    app.handle = app.pay
    retry = call_wsgi(web, wsgi_environ())
    assert (retry.body, retry.replayed) == (b"run 2", False)


def test_what_the_handler_writes_is_part_of_the_body(scope_of: Scopes, app: App) -> None:
    web = protect(app, scope_of())

    def handle(environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [])
        write = start_response("201 Created", [("Content-Length", "6")])
        write(b"abc")
        return [b"def"]

    app.handle = handle
    assert call_wsgi(web, wsgi_environ()).body == b"abcdef"
    retry = call_wsgi(web, wsgi_environ())
    assert (retry.status, retry.body) == (201, b"abcdef")


def test_the_handler_may_end_its_claim_itself(scope_of: Scopes, app: App) -> None:
    web = protect(app, scope_of())

    def release(environ: Any, start_response: Any) -> Any:
        environ["fencepost.claim"].release()
        return app.pay(environ, start_response)

    app.handle = release
    assert not call_wsgi(web, wsgi_environ()).stored
    app.handle = app.pay
    assert call_wsgi(web, wsgi_environ()).body == b"run 2"


def test_a_handler_that_does_not_start(scope_of: Scopes, app: App) -> None:
    app.handle = lambda environ, start_response: [b"abc"]
    with pytest.raises(RuntimeError, match=r"has not called start_response"):
        call_wsgi(protect(app, scope_of()), wsgi_environ())


def test_half_a_request_runs_nothing(scope_of: Scopes, app: App) -> None:
    environ = wsgi_environ(CONTENT_LENGTH="100")
    assert call_wsgi(protect(app, scope_of()), environ).status == 400
    assert app.runs == 0


def test_a_body_without_a_length(scope_of: Scopes, app: App) -> None:
    """The middleware reads it to its end if the server announces an end. Otherwise there is no body."""
    web = protect(app, scope_of())
    chunked: dict[str, Any] = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    chunked["wsgi.input_terminated"] = True
    assert call_wsgi(web, wsgi_environ(**chunked)).status == 201
    assert call_wsgi(web, wsgi_environ()).replayed
    endless: dict[str, Any] = {"CONTENT_LENGTH": "", "wsgi.input": io.BytesIO(b"of the next request")}
    app.handle = app.pieces()
    assert call_wsgi(web, wsgi_environ("order-18", **endless)).status == 200
    assert call_wsgi(web, wsgi_environ("order-18", b"")).replayed


def test_the_route_has_the_prefix_of_a_mounted_application(scope_of: Scopes, app: App) -> None:
    web = protect(app, scope_of())
    assert call_wsgi(web, wsgi_environ(SCRIPT_NAME="/shop", PATH_INFO="/pay")).status == 201
    assert call_wsgi(web, wsgi_environ(SCRIPT_NAME="", PATH_INFO="/shop/pay")).replayed
    assert call_wsgi(web, wsgi_environ()).status == 422


def test_a_record_that_is_no_response(scope_of: Scopes, app: App) -> None:
    payments = scope_of()
    print_ = form.fingerprint(SECRET, b"POST", b"/pay", b"", BODY)
    payments.register(record_key("shop-7", "order-17"), {"status": 200}, fingerprint=print_)
    response = call_wsgi(protect(app, payments, fail_open=True), wsgi_environ())
    assert (response.status, app.runs) == (500, 0)
    assert b"corrupt-record" in response.body


def test_what_passes_through(scope_of: Scopes, app: App) -> None:
    web = protect(app, scope_of(), required=False, tokens=True)
    urlencoded: dict[str, Any] = {"CONTENT_TYPE": "Application/X-WWW-form-urlencoded; charset=utf-8"}
    for run, environ in enumerate((wsgi_environ(None), wsgi_environ(None, **urlencoded)), 1):
        assert call_wsgi(web, environ).body == f"run {run}".encode()


def test_a_form_token_is_issued_for_a_page(scope_of: Scopes, app: App) -> None:
    payments = scope_of()
    web = protect(app, payments, tokens=True, token_path="/t%6Fkens")
    issued = call_wsgi(web, wsgi_environ(None, b"", PATH_INFO="/tokens"))
    assert (issued.status, app.runs) == (201, 0)
    token = issue_token(payments, "shop-7")
    for replayed in (False, True):
        assert call_wsgi(web, wsgi_environ(None, HTTP_IDEMPOTENCY_TOKEN=token)).replayed == replayed
    other = wsgi_environ(None, HTTP_IDEMPOTENCY_TOKEN=token, HTTP_X_TENANT="shop-8")
    assert call_wsgi(web, other).status == 422


def test_the_scope_has_to_be_one_for_threads(app: App) -> None:
    wrong: Any = lambda: app  # noqa: E731
    with pytest.raises(fencepost.ConfigError, match="give a scope of a client of fencepost"):
        call_wsgi(protect(app, wrong), wsgi_environ())
