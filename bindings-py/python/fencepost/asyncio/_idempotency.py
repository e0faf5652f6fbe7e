"""Scopes of idempotent operations of the client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Concatenate, TypeVar, overload

from .._client.arguments import Duration, acquire_timeout
from .._client.base_once import BaseOnce, Exceptions, How, Method, P, Q, noting, text_of
from .._client.codec import ERROR, Codec
from .._client.noncopyable import Noncopyable
from .._client.operations import Operations, Outcome, done, granted, looked, swept, updated
from .._engine.claim import ClaimContender
from .._engine.contender import Contender, State
from .._engine.record import Record
from .._fencepost import Settings
from ..hub._clock import now
from ._calls import Calls, rest
from ._claim import Claim, Claiming

T = TypeVar("T")


class Idempotency(Noncopyable):
    """A scope of idempotent operations, made by :meth:`Client.idempotency`. Tasks of one loop may share it.

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
    ) -> Claiming:
        """Claims an operation: ``async with payments.claim(key) as claim``, or ``await payments.claim(key)``.
        If the operation has a result, the claim is :attr:`Claim.replayed`. If another attempt runs the
        operation, the claim waits for at most ``timeout``.

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
    ) -> Claiming:
        """Claims the operation of a token that was issued with the same binding. Raises the errors of
        :meth:`claim`, and Refused (``unknown-token``) if the token was never issued or has expired.
        """
        wait = acquire_timeout(timeout, blocking)
        checked = self._operations.consume(token, binding, fingerprint)
        return self._claim(token, checked, wait, self._operations.codec)

    async def issue(self, token: str, binding: bytes | str, *, life: Duration | None = None) -> None:
        """Issues a token, which a claim may consume within ``life`` (ten minutes by default). ``binding``
        identifies the user and the purpose of the token. A token must be hard to guess, such as
        ``secrets.token_urlsafe()``. Raises Mismatch if the token exists.
        """
        await self._step(token, self._operations.issue(token, binding, life), done)

    async def register(
        self, key: str, value: Any, *, fingerprint: bytes | str = b"", binding: bytes | str | None = None
    ) -> Outcome[Any]:
        """Claims an operation and stores its result at once, in one request: for a result that the program
        knows beforehand, such as one order for each user. With a ``binding`` the key is a token. Raises the
        errors of :meth:`claim`. Does not wait.
        """
        checked = self._operations.register(key, value, binding, fingerprint)
        return await self._step(key, checked, partial(self._operations.registered, key, value))

    async def update(
        self, key: str, value: Any, *, operation: str, version: int, fingerprint: bytes | str = b""
    ) -> Outcome[int]:
        """Replaces the value at ``key`` if it has this version; version 0 means that no value exists. Returns
        the new version. ``operation`` identifies the update: a repeated update changes nothing, and its
        outcome is replayed. Raises Conflict, with the present value, and Mismatch.
        """
        checked = self._operations.update(key, value, operation, version, fingerprint)
        return await self._step(key, checked, updated)

    async def look(self, key: str) -> Record | None:
        """Reads the record of an operation, or a value. Returns None if there is none."""
        return await self._step(key, self._operations.look(key), looked)

    async def settle(self, key: str, record: Record, value: Any) -> Outcome[Any]:
        """For operators: stores the result of an operation. ``record`` is the record that :meth:`look`
        returned. If the operation already has a result, the server keeps that result, and the outcome is
        replayed. Raises Refused (``record-changed``) if the record has changed since then.
        """
        checked = self._operations.settle(key, record, value)
        return await self._step(key, checked, partial(self._operations.registered, key, value))

    async def forget(self, key: str, record: Record) -> None:
        """For operators: deletes the record, so that the operation may run again. ``record`` is as for
        :meth:`settle`.
        """
        await self._step(key, self._operations.forget(key, record), done)

    async def sweep(self) -> int:
        """Deletes the records of this scope that no request needs: records that were released or forgotten or
        are past their retention, and tokens past their life. Returns the number of deleted records. On
        ZooKeeper nothing else deletes them: call this once a day, in one process or in several. On Redis the
        server expires them by itself, and this returns 0. Raises Refused.
        """
        of = self._operations
        return await self._client._ask(Contender(of.scope), of.sweep(), False, swept)

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
    ) -> Callable[[Callable[P, Awaitable[T]]], Once[P, T]]:
        """Decorates a coroutine function that is to run once for each key::

            @payments.once(key=lambda order: order.id)
            async def pay(order): ...

            await pay(order)                          # runs it, or returns the stored result
            (await pay.outcome(order)).replayed       # whether it was stored before

        ``key`` and ``fingerprint`` are functions of the same arguments. The client stores the result as JSON,
        or with ``codec``. If it cannot encode the result, it raises ConfigError and leaves the operation.
        After an exception or a cancellation it leaves the operation, too: the outcome is unknown, and the
        policy decides. ``release_on`` lists the exceptions after which the operation had no effect: the
        client releases the claim. ``store_on`` lists the exceptions whose text the client stores as the
        result: a replay raises StoredError.
        """
        how = How.of(self._operations, key, fingerprint, codec, timeout, blocking, release_on, store_on)
        return partial(Once, self, how=how)

    def _claim(self, key: str, checked: Settings, wait: int | bool, codec: Codec) -> Claiming:
        client, operations = self._client, self._operations

        def made(contender: ClaimContender) -> Claim | None:
            if contender.state is State.RELEASED:
                return None
            granted(contender)
            return Claim(client, contender, operations, key, codec)

        async def begin() -> Claim:
            begun, left = now(), wait
            while True:
                claim = await client._ask(
                    ClaimContender(operations.name(key), operations.scope), checked, left, made
                )
                if claim is not None:
                    return claim
                left = rest(wait, begun)

        return Claiming(begin)

    async def _step(self, key: str, checked: Settings, make: Callable[[Contender], T]) -> T:
        return await self._client._ask(
            Contender(self._operations.name(key), self._operations.scope), checked, False, make
        )

    def __repr__(self) -> str:
        return f"<fencepost.asyncio.Idempotency {self._operations.scope!r}>"


class Once(BaseOnce[P, Awaitable[T]]):
    """A coroutine function that runs once for each key, made by :meth:`Idempotency.once`."""

    def __init__(self, scope: Idempotency, function: Callable[P, Awaitable[T]], how: How) -> None:
        super().__init__(scope._operations, function, how)
        self._scope = scope
        # Frameworks check this before they call it in the loop.
        if sys.version_info >= (3, 12):
            inspect.markcoroutinefunction(self)
        else:
            self._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]

    @overload
    def __get__(self, instance: None, owner: type) -> Once[P, T]: ...
    @overload
    def __get__(
        self: Once[Concatenate[Any, Q], T], instance: object, owner: type | None = None
    ) -> Once[Q, T]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The function as a method."""
        return self._bound(instance, OnceMethod)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the result of this call, or of an earlier one with the same key."""
        return (await self.outcome(*args, **kwargs)).value

    async def outcome(self, *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
        """Returns the result, and whether an earlier call stored it."""
        given, how = (*self._first, *args), self._how
        key, checked = self._operation(*given, **kwargs)
        async with self._scope._claim(key, checked, how.wait, how.codec) as claim:
            if claim.replayed:
                return Outcome(claim.result, True)
            try:
                called: Any = self.__wrapped__(*given, **kwargs)
                # A function without `async` has run already, and its result must not be lost.
                value: T = await called if inspect.isawaitable(called) else called
            except Exception as error:
                meaning = how.meaning(error)
                with noting(error):
                    if meaning == "release":
                        await claim.release()
                    elif meaning == "store":
                        await claim._complete(ERROR, text_of(error))
                if not claim.replayed:
                    raise
                return Outcome(claim.result, True)
            await claim.complete(value)
            return Outcome(claim.result, True) if claim.replayed else Outcome(value, False)


class OnceMethod(Method, Once[P, T]):
    """A function that runs once for each key, as the method of an object."""

    def __init__(self, function: Once[..., T], instance: object) -> None:
        self._become_method(function, instance)
