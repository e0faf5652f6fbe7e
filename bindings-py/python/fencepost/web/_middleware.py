"""The part of the middleware that is the same in ASGI and WSGI: the settings, and the reading of requests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._client.arguments import Duration, acquire_timeout, binary, positive, text
from .._client.base_claim import BaseClaim
from .._client.codec import LONGEST_RESULT, Codec
from .._client.operations import Operations
from .._engine.log import log
from .._engine.wording import shown, unreadable
from .._fencepost import Settings
from ..errors import ConfigError, FencepostError, LockLost, Refused
from . import _answers as answers
from . import _form as form
from ._answers import End, Problem

Request = TypeVar("Request", bound=MutableMapping[str, Any])
Scope = TypeVar("Scope")

_SHORTEST_SECRET = 16
_URLENCODED = b"application/x-www-form-urlencoded"

CLAIM = "fencepost.claim"
"""The key of the claim in the handler's ASGI scope or WSGI environ."""
RESPONSES = Codec(form.TAG, lambda result: result, form.Stored.decode)
"""The codec of stored responses. The middleware encodes them itself, because of their limit."""


class Answer(Exception):
    """The middleware responds to a request itself, without the handler."""

    def __init__(self, problem: Problem, wait: int | None = None) -> None:
        super().__init__(problem.title)
        self.problem = problem
        self.wait = wait


class StoreAway(Exception):
    """The store is unavailable. The log has the reason."""


class HungUp(Exception):
    """The client has disconnected."""


@dataclass(frozen=True)
class Head:
    """The part of a request's head that the middleware reads. The route is decoded."""

    method: bytes
    route: bytes
    query: bytes
    keys: list[bytes]
    """The lines of Idempotency-Key."""
    tokens: list[bytes]
    """The lines of Idempotency-Token."""
    content_type: bytes
    content_length: bytes

    @property
    def has_form(self) -> bool:
        """Whether a form token may be in the body."""
        return self.content_type.partition(b";")[0].strip().lower() == _URLENCODED


@dataclass(frozen=True)
class Named:
    """The key or the token of a request."""

    text: str
    is_token: bool

    def key(self, tenant: str) -> str:
        """The key of the record."""
        return form.token_key(self.text) if self.is_token else form.record_key(tenant, self.text)


@dataclass(frozen=True)
class Attempt:
    """A claim with one of the secrets."""

    settings: Settings
    is_last: bool
    """Whether no older secret is left."""


class Middleware(Generic[Request, Scope]):
    """The settings of a middleware. ``docs/reference/http.md`` describes them, and the responses.

    ``idempotency`` is a scope that :meth:`Client.idempotency` has made, or a function that returns it, which
    the middleware calls for each request. ``scope`` is a function that returns the tenant or session of a
    request, to which the keys belong. Take it from authenticated data: a replay happens before the handler's
    own checks. ``secret`` is the key of the fingerprints, at least 16 bytes. Servers that replay each other's
    responses must have the same secret. A list has the present secret first, and then older ones, which are
    still accepted.

    ``methods`` and ``covers``, a function of the request, select the requests that are covered. With
    ``required=False`` a request without a key passes through. ``wait`` is how long a request waits for
    another one with the same key. ``ends`` maps statuses to ``"complete"``, ``"release"`` or ``"leave"``.
    ``stored_headers`` are stored besides the usual ones. With ``fail_open`` the handler runs without
    protection if the store is unavailable. ``tokens`` and ``token_path`` are for forms.

    Raises ConfigError.
    """

    _kind: type[Scope]
    """The class of scopes that ``idempotency`` must be, or return."""
    _client: str
    """The client of these scopes, for the text of an error."""

    def __init__(
        self,
        app: Any,
        idempotency: Scope | Callable[[], Scope],
        *,
        scope: Callable[[Request], Any],
        secret: bytes | str | Sequence[bytes | str],
        methods: Collection[str] = ("POST", "PATCH"),
        covers: Callable[[Request], bool] | None = None,
        required: bool = True,
        wait: Duration | None = None,
        max_body: int = 1024 * 1024,
        max_result: int = 256 * 1024,
        ends: Mapping[int, End] | None = None,
        stored_headers: Collection[str] = (),
        fail_open: bool = False,
        tokens: bool = False,
        token_path: str | None = None,
    ) -> None:
        self.app = app
        self._idempotency = idempotency
        self._scope = _function("scope", scope)
        self._secrets = _secrets(secret)
        self._methods = frozenset(map(_method, _list(methods)))
        self._covers = None if covers is None else _function("covers", covers)
        self._required = _flag("required", required)
        self._wait = acquire_timeout(None, False) if wait is None else positive("wait", wait)
        self._max_body = _size("max_body", max_body, 2**63)
        self._max_result = _size("max_result", max_result, LONGEST_RESULT)
        self._ends = _ends({} if ends is None else ends)
        self._stored_headers = form.STORED_HEADERS.union(map(_header, _list(stored_headers)))
        self._fail_open = _flag("fail_open", fail_open)
        self._tokens = _flag("tokens", tokens)
        self._token_path = None if token_path is None else form.route_of(_path(token_path))
        if token_path is not None and not tokens:
            raise unreadable(f"token_path is {token_path!r} and tokens is False: give tokens=True, too")
        self._set_up()

    def _set_up(self) -> None:
        """Sets up the state that only one of the two has."""

    def _operations(self) -> Scope:
        given = self._idempotency
        operations = given() if callable(given) else given
        if not isinstance(operations, self._kind):
            raise unreadable(f"idempotency is {operations!r}: give a scope of {self._client}")
        return operations

    def _is_covered(self, head: Head, request: Request) -> bool:
        if CLAIM in request:  # The program has wrapped the application twice.
            return False
        return head.method in self._methods and (self._covers is None or bool(self._covers(request)))

    def _issues_token(self, head: Head) -> bool:
        return head.method == b"POST" and head.route == self._token_path

    def _may_have_form(self, head: Head) -> bool:
        """Whether the form token may be in the body."""
        return self._tokens and not head.tokens and head.has_form

    def _named(self, head: Head, token: bytes | None) -> Named | None:
        """The key or token of a request. ``token`` is the token in its body. None: the request passes
        through.
        """
        if self._tokens and head.tokens:
            token = b", ".join(head.tokens)
        if token is not None:
            known = form.token_of(token)
            if known is None:
                raise Answer(answers.UNKNOWN_TOKEN)
            return Named(known, True)
        if not head.keys:
            if self._required:
                raise Answer(answers.KEY_MISSING)
            return None
        key = form.key_of(head.keys)
        if key is None:
            raise Answer(answers.KEY_MALFORMED)
        return Named(key, False)

    def _check_length(self, head: Head) -> None:
        length = head.content_length
        if length.isdigit() and int(length) > self._max_body:
            raise Answer(answers.BODY_TOO_LARGE)

    def _attempts(
        self, operations: Operations, named: Named, tenant: str, head: Head, body: bytes
    ) -> Iterator[Attempt]:
        """The claims of a request: with the present secret, and after a mismatch with the older ones."""
        key = named.key(tenant)
        for nth, secret in enumerate(self._secrets, 1):
            print_ = form.fingerprint(secret, head.method, head.route, head.query, body)
            if named.is_token:
                settings = operations.consume(key, form.binding_of(tenant), print_)
            else:
                settings = operations.claim(key, print_)
            yield Attempt(settings, nth == len(self._secrets))

    def _end(self, status: int) -> End:
        return answers.end_of(status, self._ends)


def tenant_of(given: object) -> str:
    """Checks the tenant that ``scope`` has returned. Raises ConfigError."""
    tenant = text("the tenant that scope= returns", given, "shop-7")
    if not tenant:
        raise unreadable("the tenant that scope= returns is empty: give the tenant or session of the request")
    return tenant


def answer_to(error: FencepostError) -> Exception:
    """The exception for a failed claim: Answer, StoreAway, or the error itself, if the program caused it."""
    if not isinstance(error, (Refused, LockLost)):
        return error
    if error.code in (301, 302, 317):
        return Answer(answers.IN_PROGRESS, answers.retry_after(getattr(error, "retry_after", None)))
    problem = _PROBLEMS.get(error.code)
    return StoreAway() if problem is None else Answer(problem)


_PROBLEMS = {
    318: answers.MISMATCH,
    319: answers.INDETERMINATE,
    320: answers.UNKNOWN_TOKEN,
    321: answers.CORRUPT_RECORD,
}


@contextmanager
def refusing(what: str, operations: Operations, key: str, *, fail_open: bool = False) -> Iterator[None]:
    """Turns an error of the store into Answer, or into StoreAway with ``fail_open``. If the store is
    unavailable, it logs ``what``, the consequence.
    """
    try:
        yield
    except FencepostError as error:
        answer = answer_to(error)
        if answer is error:
            raise
        if isinstance(answer, StoreAway):
            report("the handler runs without a claim" if fail_open else what, error, operations, key)
            if not fail_open:
                answer = Answer(answers.STORE_UNAVAILABLE)
        raise answer from error


def stored_by(claim: BaseClaim) -> form.Stored:
    """The response that a replayed claim has. Raises Answer if it cannot be read."""
    try:
        stored: form.Stored = claim.result
    except FencepostError as error:
        report_of("a stored response cannot be replayed", error, claim)
        raise Answer(answers.CORRUPT_RECORD) from error
    return stored


def report(what: str, error: FencepostError, operations: Operations, key: str) -> None:
    """Logs a failure that the client does not see, or not in full."""
    # A key may be a token. In the log, an operation has the name of its scope.
    why = str(error).removeprefix(f"{shown(operations.name(key))}: ")
    log.warning("web: %s: %s: %s", what, shown(operations.scope), why)


def report_of(what: str, error: FencepostError, claim: BaseClaim) -> None:
    """The same for a claim."""
    report(what, error, claim._operations, claim._key)


def giving_back(inner: Request, outer: Request, own: Collection[str]) -> Callable[[], None]:
    """Returns a function that copies the application's changes in ``inner`` to ``outer``, where the outer
    middleware finds them. ``own`` are the names that only the handler sees.
    """
    known = dict(inner)

    def give_back() -> None:
        for name, value in list(inner.items()):
            if name not in own and (name not in known or known[name] is not value):
                known[name] = outer[name] = value

    return give_back


def with_not_stored(headers: form.Headers) -> form.Headers:
    """The headers of a response whose body no retry gets."""
    return [*headers, form.NOT_STORED]


def _function(what: str, given: Any) -> Any:
    if not callable(given):
        raise unreadable(f"{what} is {given!r}: give a function of the request")
    return given


def _secrets(given: object) -> tuple[bytes, ...]:
    if not isinstance(given, (list, tuple)):
        return (_secret(given),)
    if not given:
        raise unreadable("secret is an empty list: give the present secret, and then older ones")
    return tuple(map(_secret, given))


def _secret(given: object) -> bytes:
    secret = binary("the secret", given)
    if len(secret) < _SHORTEST_SECRET:
        raise ConfigError(
            f"the secret has {len(secret)} bytes: give at least {_SHORTEST_SECRET} random ones",
            *_INVALID_OPTION,
        )
    return secret


_INVALID_OPTION = (110, "invalid-option")


def _list(given: Collection[str]) -> Collection[str]:
    if isinstance(given, (str, bytes)):
        raise unreadable(f'this is {given!r}: give a list of str, such as ["{given!s}"]')
    return given


def _flag(what: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise unreadable(f"{what} is {given!r}: give True or False")
    return given


def _size(what: str, given: object, most: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise unreadable(f"{what} is {given!r}: give a number of bytes")
    if not 0 <= given <= most:
        raise ConfigError(f"{what} is {given}: give 0 to {most} bytes", *_INVALID_OPTION)
    return given


def _ends(given: Mapping[int, End]) -> dict[int, End]:
    for status, end in given.items():
        if not isinstance(status, int) or not 200 <= status <= 599 or end not in answers.ENDS:
            raise ConfigError(
                f"ends has {status!r}: {end!r}: give statuses from 200 to 599, each with complete, release "
                "or leave",
                *_INVALID_OPTION,
            )
    return dict(given)


def _method(given: str) -> bytes:
    method = text("a method", given, "POST").encode()
    # Servers do not change the case of a method: requests with another case would run without protection.
    if not form.is_name(method) or method != method.upper():
        remedy = f"give {given.upper()!r}" if form.is_name(method) else 'give names such as "POST"'
        raise ConfigError(f"methods has {given!r}: {remedy}", *_INVALID_OPTION)
    return method


def _header(given: str) -> bytes:
    name = text("a header", given, "x-order").encode().lower()
    if not form.is_name(name) or name in form.NEVER_STORED:
        raise ConfigError(
            f"stored_headers has {shown(given)!r}, which cannot be stored: remove it", *_INVALID_OPTION
        )
    return name


def _path(given: str) -> bytes:
    path = text("token_path", given, "/idempotency-token").encode()
    if not path.startswith(b"/"):
        raise ConfigError(
            f"token_path is {shown(given)!r}: give a path that begins with a slash", *_INVALID_OPTION
        )
    return path
