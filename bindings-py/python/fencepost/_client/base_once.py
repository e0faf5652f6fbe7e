"""A function that runs once for each key: the part that both clients share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, update_wrapper
from itertools import product
from types import MethodType
from typing import Any, Generic, Literal, ParamSpec, TypeVar

from .._engine.wording import unreadable
from .._fencepost import Settings
from ..errors import ConfigError, FencepostError
from .arguments import acquire_timeout
from .base_grant import note
from .codec import LONGEST_RESULT, Codec
from .operations import Operations, checked_codec

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Made = TypeVar("Made", bound="BaseOnce[Any, Any]")

Exceptions = type[Exception] | tuple[type[Exception], ...]
"""A class of exceptions, or several."""


@dataclass(frozen=True)
class How:
    """The checked arguments of a decorator."""

    key: Callable[..., str]
    fingerprint: Callable[..., bytes | str] | None
    codec: Codec
    wait: int | bool
    release_on: tuple[type[Exception], ...]
    store_on: tuple[type[Exception], ...]

    @classmethod
    def of(
        cls,
        operations: Operations,
        key: Callable[..., str],
        fingerprint: Callable[..., bytes | str] | None,
        codec: Codec | None,
        timeout: object,
        blocking: object,
        release_on: Exceptions,
        store_on: Exceptions,
    ) -> How:
        """Checks the arguments of a decorator. Raises ConfigError."""
        for what, given in (("key", key), ("fingerprint", key if fingerprint is None else fingerprint)):
            if not callable(given):
                raise unreadable(
                    f"{what} is {given!r}: give a function of the arguments of the decorated one"
                )
        harmless, results = _exceptions("release_on", release_on), _exceptions("store_on", store_on)
        _check_apart(harmless, results)
        return cls(
            key,
            fingerprint,
            operations.codec if codec is None else checked_codec(codec),
            acquire_timeout(timeout, blocking),
            harmless,
            results,
        )

    def meaning(self, error: Exception) -> Literal["release", "store", "leave"]:
        """How the claim ends after an exception of the function. If the exception has bases in both lists,
        the nearest one decides.
        """
        for base in type(error).__mro__:
            if base in self.release_on:
                return "release"
            if base in self.store_on:
                return "store"
        return "leave"


def _exceptions(what: str, given: object) -> tuple[type[Exception], ...]:
    classes = given if isinstance(given, tuple) else (given,)
    for each in classes:
        if not (isinstance(each, type) and issubclass(each, Exception)):
            raise unreadable(f"{what} has {each!r}: give classes of exceptions")
    return classes


def _check_apart(release_on: tuple[type[Exception], ...], store_on: tuple[type[Exception], ...]) -> None:
    """Raises ConfigError if an exception of one list would always be in the other list, too."""
    for harmless, result in product(release_on, store_on):
        if issubclass(harmless, result) or issubclass(result, harmless):
            raise ConfigError(
                f"release_on has {harmless.__name__} and store_on has {result.__name__}, and one exception "
                "can be both: leave it out of one of them",
                110,
                "invalid-option",
            )


class BaseOnce(Generic[P, R]):
    """A function that runs once for each key."""

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., R]
    __self__: object
    """The object of a method. A method has this attribute and the next two."""
    __func__: BaseOnce[..., R]
    __signature__: inspect.Signature

    def __init__(self, operations: Operations, function: Callable[P, R], how: How) -> None:
        if not callable(function):
            raise unreadable(f"{function!r} cannot be called: decorate a function")
        if runs(function, inspect.isgeneratorfunction) or runs(function, inspect.isasyncgenfunction):
            raise unreadable(
                f"{function!r} is a generator function, whose body runs after the call has ended"
            )
        me: Any = self
        update_wrapper(me, function)
        self._operations = operations
        self._how = how
        self._first: tuple[object, ...] = ()
        """The object, if this is a method."""
        self._of_methods: inspect.Signature | None = None
        """The signature of its methods."""

    def _bound(self: Made, instance: object, method: Callable[[Made, object], Made]) -> Made:
        """The function as a method of an object. ``method`` is the class of such methods."""
        return self if instance is None or self._first else method(self, instance)

    def _become_method(self, function: BaseOnce[..., R], instance: object) -> None:
        if function._of_methods is None:
            # Some functions have no signature.
            with suppress(TypeError, ValueError):
                me: Any = function
                # `getfullargspec` reads the signature of the method's function.
                function.__signature__ = inspect.signature(me)
                function._of_methods = inspect.signature(MethodType(me, instance))
        self.__dict__.update(function.__dict__)
        self._first = (instance,)
        self.__self__, self.__func__ = instance, function
        if function._of_methods is not None:
            self.__signature__ = function._of_methods

    def __eq__(self, other: object) -> bool:
        """Two methods are equal if they have the same function and the same object."""
        if not isinstance(other, BaseOnce) or not (self._first and other._first):
            return self is other
        return self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__))) if self._first else id(self)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickled as functions and methods are: by name."""
        if self._first:
            return getattr, (self._first[0], self.__wrapped__.__name__)
        return self.__wrapped__.__qualname__

    def __repr__(self) -> str:
        return f"<Once in {self._operations.scope!r} of {self.__wrapped__!r}>"

    def _operation(self, *args: Any, **kwargs: Any) -> tuple[str, Settings]:
        """The key of a call, and the settings of its claim."""
        how = self._how
        key = how.key(*args, **kwargs)
        fingerprint = b"" if how.fingerprint is None else how.fingerprint(*args, **kwargs)
        return key, self._operations.claim(key, fingerprint)


class Method:
    """Lets ``inspect.ismethod`` and frameworks recognise an object as a method. A signal of Django or of
    blinker keeps weak references to the object and the function, and creates the method again from both.
    """

    @property
    def __class__(self) -> type:
        return MethodType

    @__class__.setter
    def __class__(self, other: type) -> None:
        raise TypeError("the class of a method is fixed")


def runs(function: object, is_of_kind: Callable[[object], bool]) -> bool:
    """Whether a call runs a function of that kind: the given one, or the ``__call__`` of the given object."""
    while isinstance(function, partial):
        function = function.func
    call = getattr(type(function), "__call__", None)  # noqa: B004
    return is_of_kind(function) or is_of_kind(call)


@contextmanager
def noting(error: BaseException) -> Iterator[None]:
    """If the block fails, adds the failure as a note to the exception that is being handled."""
    try:
        yield
    except FencepostError as failure:
        note(error, failure, "claim")


def text_of(error: Exception) -> bytes:
    """The text of an error, for the stored result. A text that is too long is cut."""
    try:
        text = str(error).encode(errors="replace")
    except Exception:  # Its `__str__` raises.
        return type(error).__name__.encode()
    if len(text) <= LONGEST_RESULT:
        return text
    rest = "…".encode()
    # Cuts no character in two.
    return text[: LONGEST_RESULT - len(rest)].decode(errors="ignore").encode() + rest
