"""Scopes of idempotent operations of the client for threads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate, TypeVar, overload

from .._engine.claim import ClaimContender
from .._engine.contender import Contender
from .._engine.record import Record
from .._engine.wording import unreadable
from .._fencepost import Settings
from .arguments import Duration, acquire_timeout
from .base_once import BaseOnce, Exceptions, How, Method, P, Q, noting, runs, text_of
from .calls import Calls
from .claim import Claim
from .codec import ERROR, Codec
from .noncopyable import Noncopyable
from .operations import Operations, Outcome, done, granted, looked, swept, updated

T = TypeVar("T")


class Idempotency(Noncopyable):
    """A scope of idempotent operations, made by :meth:`Client.idempotency`. Threads may share it.

    A fingerprint is a digest of the operation's arguments. A claim with the same key and another fingerprint
    raises Mismatch. Fingerprints and bindings are bytes, or text.
    """

    __slots__ = ("_client", "_operations")

    def __init__(self, client: Calls, operations: Operations) -> None:
        self._client = client
        self._operations = operations

    def claim(
        self,
        key: str,
        *,
        fingerprint: bytes | str = b"",
        timeout: Duration | None = None,
        blocking: bool = True,
    ) -> Claim:
        """Claims an operation: ``with payments.claim(key) as claim``. If the operation has a result, the
        claim is :attr:`Claim.replayed`. If another attempt runs the operation, this call waits for at most
        ``timeout``.

        Raises InProgress if the other attempt still runs it then, or at once with ``blocking=False``;
        Mismatch; Indeterminate; every other Refused; ConfigError.
        """
        wait = acquire_timeout(timeout, blocking)
        return self._claim(key, self._operations.claim(key, fingerprint), wait, self._operations.codec)

    def consume(
        self,
        token: str,
        binding: bytes | str,
        *,
        fingerprint: bytes | str = b"",
        timeout: Duration | None = None,
        blocking: bool = True,
    ) -> Claim:
        """Claims the operation of a token that was issued with the same binding. Raises the errors of
        :meth:`claim`, and Refused (``unknown-token``) if the token was never issued or has expired.
        """
        wait = acquire_timeout(timeout, blocking)
        checked = self._operations.consume(token, binding, fingerprint)
        return self._claim(token, checked, wait, self._operations.codec)

    def issue(self, token: str, binding: bytes | str, *, life: Duration | None = None) -> None:
        """Issues a token, which a claim may consume within ``life`` (ten minutes by default). ``binding``
        identifies the user and the purpose of the token. A token must be hard to guess, such as
        ``secrets.token_urlsafe()``. Raises Mismatch if the token exists.
        """
        self._step(token, self._operations.issue(token, binding, life), done)

    def register(
        self, key: str, value: Any, *, fingerprint: bytes | str = b"", binding: bytes | str | None = None
    ) -> Outcome[Any]:
        """Claims an operation and stores its result at once, in one request: for a result that the program
        knows beforehand, such as one order for each user. With a ``binding`` the key is a token. Raises the
        errors of :meth:`claim`. Does not wait.
        """
        checked = self._operations.register(key, value, binding, fingerprint)
        return self._step(key, checked, partial(self._operations.registered, key, value))

    def update(
        self, key: str, value: Any, *, operation: str, version: int, fingerprint: bytes | str = b""
    ) -> Outcome[int]:
        """Replaces the value at ``key`` if it has this version; version 0 means that no value exists. Returns
        the new version. ``operation`` identifies the update: a repeated update changes nothing, and its
        outcome is replayed. Raises Conflict, with the present value, and Mismatch.
        """
        checked = self._operations.update(key, value, operation, version, fingerprint)
        return self._step(key, checked, updated)

    def look(self, key: str) -> Record | None:
        """Reads the record of an operation, or a value. Returns None if there is none."""
        return self._step(key, self._operations.look(key), looked)

    def settle(self, key: str, record: Record, value: Any) -> Outcome[Any]:
        """For operators: stores the result of an operation. ``record`` is the record that :meth:`look`
        returned. If the operation already has a result, the server keeps that result, and the outcome is
        replayed. Raises Refused (``record-changed``) if the record has changed since then.
        """
        checked = self._operations.settle(key, record, value)
        return self._step(key, checked, partial(self._operations.registered, key, value))

    def forget(self, key: str, record: Record) -> None:
        """For operators: deletes the record, so that the operation may run again. ``record`` is as for
        :meth:`settle`.
        """
        self._step(key, self._operations.forget(key, record), done)

    def sweep(self) -> int:
        """Deletes the records of this scope that no request needs: records that were released or forgotten or
        are past their retention, and tokens past their life. Returns the number of deleted records. On
        ZooKeeper nothing else deletes them: call this once a day, in one process or in several. On Redis the
        server expires them by itself, and this returns 0. Raises Refused.
        """
        of = self._operations
        return self._client._ask(Contender(of.scope), of.sweep(), False, swept)

    def once(
        self,
        *,
        key: Callable[..., str],
        fingerprint: Callable[..., bytes | str] | None = None,
        codec: Codec | None = None,
        timeout: Duration | None = None,
        blocking: bool = True,
        release_on: Exceptions = (),
        store_on: Exceptions = (),
    ) -> Callable[[Callable[P, T]], Once[P, T]]:
        """Decorates a function that is to run once for each key::

            @payments.once(key=lambda order: order.id)
            def pay(order): ...

            pay(order)                       # runs it, or returns the stored result
            pay.outcome(order).replayed      # whether it was stored before

        ``key`` and ``fingerprint`` are functions of the same arguments. The client stores the result as JSON,
        or with ``codec``. If it cannot encode the result, it raises ConfigError and leaves the operation.
        After an exception it leaves the operation, too: the outcome is unknown, and the policy decides.
        ``release_on`` lists the exceptions after which the operation had no effect: the client releases the
        claim. ``store_on`` lists the exceptions whose text the client stores as the result: a replay raises
        StoredError.
        """
        how = How.of(self._operations, key, fingerprint, codec, timeout, blocking, release_on, store_on)
        return partial(Once, self, how=how)

    def _claim(self, key: str, checked: Settings, wait: int | bool, codec: Codec) -> Claim:
        client, operations = self._client, self._operations

        def made(contender: ClaimContender) -> Claim:
            granted(contender)
            return Claim(client, contender, operations, key, codec)

        return client._ask(ClaimContender(operations.name(key), operations.scope), checked, wait, made)

    def _step(self, key: str, checked: Settings, make: Callable[[Contender], T]) -> T:
        return self._client._ask(
            Contender(self._operations.name(key), self._operations.scope), checked, False, make
        )

    def __repr__(self) -> str:
        return f"<fencepost.Idempotency {self._operations.scope!r}>"


class Once(BaseOnce[P, T]):
    """A function that runs once for each key, made by :meth:`Idempotency.once`."""

    def __init__(self, scope: Idempotency, function: Callable[P, T], how: How) -> None:
        if runs(function, inspect.iscoroutinefunction):
            raise unreadable(f"{function!r} is a coroutine function: use a client of fencepost.asyncio")
        super().__init__(scope._operations, function, how)
        self._scope = scope

    @overload
    def __get__(self, instance: None, owner: type) -> Once[P, T]: ...
    @overload
    def __get__(
        self: Once[Concatenate[Any, Q], T], instance: object, owner: type | None = None
    ) -> Once[Q, T]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The function as a method."""
        return self._bound(instance, OnceMethod)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the result of this call, or of an earlier one with the same key."""
        return self.outcome(*args, **kwargs).value

    def outcome(self, *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
        """Returns the result, and whether an earlier call stored it."""
        given, how = (*self._first, *args), self._how
        key, checked = self._operation(*given, **kwargs)
        with self._scope._claim(key, checked, how.wait, how.codec) as claim:
            if claim.replayed:
                return Outcome(claim.result, True)
            try:
                value = self.__wrapped__(*given, **kwargs)
            except Exception as error:
                meaning = how.meaning(error)
                with noting(error):
                    if meaning == "release":
                        claim.release()
                    elif meaning == "store":
                        claim._complete(ERROR, text_of(error))
                if not claim.replayed:
                    raise
                return Outcome(claim.result, True)
            claim.complete(value)
            return Outcome(claim.result, True) if claim.replayed else Outcome(value, False)


class OnceMethod(Method, Once[P, T]):
    """A function that runs once for each key, as the method of an object."""

    def __init__(self, function: Once[..., T], instance: object) -> None:
        self._become_method(function, instance)
