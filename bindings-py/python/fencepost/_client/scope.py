"""Scopes: the blocks of ``with`` statements, each with the grant that it has opened.

Python looks up ``__enter__`` and ``__exit__`` of an object together, before it enters the block. So do
``contextlib.ExitStack`` and ``unittest``. For locks the two are properties. When Python looks them up
together, they return the two ends of one new :class:`Block`. So leaving a block releases the grant of that
block and no other. Blocks may end in any order, thread or task. Only the statement refers to its block. If an
interrupt comes after the entry and before the body, Python drops the block, and the grant's finalizer
releases the grant.

The program may keep the exception of an interrupt, as a shell does, and with it the frames that refer to the
grant. Then the grant's finalizer does not run, so :meth:`Scopes.left` releases a grant whose block an
interrupt has ended.

A call such as ``lock.__exit__(None, None, None)`` does not identify the block that it leaves. :class:`Scopes`
keeps the blocks that such calls have entered. The thread or task of the call does not identify a block
either: frameworks enter in one thread and leave in another.
"""

from __future__ import annotations

import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

from .._engine.contender import Contender
from .._engine.wording import shown
from .._fencepost import misuse
from ..errors import MisuseError


class Block:
    """One block and its grant, from its entry to its exit."""

    __slots__ = ("__weakref__", "exit", "grant", "has_entry", "open")

    def __init__(self) -> None:
        self.has_entry = False
        """Whether Python has looked up the end that enters it."""
        self.exit: ref[Callable[..., Any]] | None = None
        """The end that leaves it, as long as the program refers to that end."""
        self.grant: Any = None
        self.open = False
        """Whether the program is entering it, or has entered it and not left it."""


class _Here(threading.local):
    """The last look-up of a thread: the ends of a block that it has not entered yet. Manager and frame are
    identities only, so that a look-up keeps no object alive.
    """

    block: Block | None = None
    manager = 0
    frame = 0


_here = _Here()


class End:
    """``__enter__`` or ``__exit__`` of a class: a property that returns an end of a block.

    Python looks up the other end next, in the same frame and on the same object (ExitStack: on the class).
    The order varies: Python 3.14 and Cython begin with the exit.
    """

    def __init__(self, verb: Callable[..., Any], leaves: bool) -> None:
        self._verb = verb
        self._leaves = leaves
        self.__doc__ = verb.__doc__

    def __get__(self, manager: object | None, kind: type | None = None) -> Callable[..., Any]:
        frame, here = id(sys._getframe(1)), _here
        block = here.block
        if (
            block is None
            or here.frame != frame
            or here.manager != id(manager)
            or block.open
            or (block.has_entry and not self._leaves)
        ):
            block = here.block = Block()
            here.frame, here.manager = frame, id(manager)
        end = partial(self._verb, block) if manager is None else partial(self._verb, block, manager)
        if self._leaves:
            block.exit = ref(end)
        else:
            block.has_entry = True
        return end


class Scopes:
    """The blocks of one lock, or of one ``hold()``, that an exit cannot find by itself."""

    __slots__ = ("_by_hand", "_guard", "_latest", "_refused", "_single")

    def __init__(self, single: bool) -> None:
        self._single = single
        """Whether it allows only one block at a time."""
        self._latest: ref[Block] | None = None
        self._by_hand: list[Block] = []
        """The blocks whose exit the program will look up when it leaves them."""
        self._refused = 0
        """The number of exits that raised ``ambiguous-scope``."""
        self._guard = allocate_lock()

    def entering(self, block: Block) -> None:
        """The program enters a block. Raises MisuseError if only one is allowed and another one is open."""
        if _here.block is block:
            _here.block = None
        with self._guard:
            latest = None if self._latest is None else self._latest()
            if block.open or (self._single and latest is not None and latest.open):
                raise MisuseError(
                    "this scope is open, or another block is entering it: call hold() once for each block",
                    204,
                    "busy",
                )
            if self._single:
                self._latest = ref(block)
            block.open = True

    def entered(self, block: Block) -> None:
        """Called when the block has its grant."""
        if block.exit is None or block.exit() is None:
            with self._guard:
                self._by_hand.append(block)

    def leaving(self, block: Block) -> list[Block]:
        """The blocks that an exit leaves, usually one. Raises MisuseError if there is none, or if the exit
        may belong to several blocks.
        """
        if _here.block is block:
            _here.block = None
        if block.grant is not None:
            return [block]
        with self._guard:
            known = self._by_hand
            if not known:
                raise misuse("not-held")
            # With this exit there are as many exits as blocks, so the program has left all of them.
            if len(known) == self._refused + 1:
                return known[:]
            # Grants that one owner shares are alike, unless the program has downgraded some of them.
            if len({_alike(each.grant._contender) for each in known}) == 1:
                return known[-1:]
            self._refused += 1
            raise MisuseError(
                f"{shown(known[0].grant.name)}: the client cannot tell which of {len(known)} open blocks "
                "this exit ends. It has released nothing, and releases all of them after as many exits. Use "
                "`with`, or call hold() for each block",
                541,
                "ambiguous-scope",
            )

    def left(self, block: Block) -> None:
        """The program has left the block, or could not enter it. An interrupt may have occurred before the
        release.
        """
        if block.grant is not None:
            block.grant._forsake()
        block.open = False
        block.grant = None
        with self._guard:
            if block in self._by_hand:
                self._by_hand.remove(block)
            if not self._by_hand:
                self._refused = 0


def _alike(contender: Contender) -> tuple[str, bool]:
    """A value that is equal for grants that do not differ: a scope may release any one of them."""
    downgrade = contender.downgrade
    return contender.attempt, downgrade is not None and downgrade[0].name == "downgraded"


def enter(block: Block, manager: Any) -> Any:
    """``__enter__``: acquires the lock."""
    scopes: Scopes = manager._scopes
    scopes.entering(block)
    try:
        block.grant = manager._obtain()
        scopes.entered(block)
        return block.grant
    except BaseException:
        scopes.left(block)
        raise


def leave(block: Block, manager: Any, kind: Any = None, error: Any = None, trace: Any = None) -> None:
    """``__exit__``: releases the grant of this block."""
    scopes: Scopes = manager._scopes
    _leave(scopes, scopes.leaving(block), error)


def forsake(block: Block, manager: Any, *_: Any) -> None:
    """``__exit__`` has raised, perhaps before its first line."""
    manager._scopes.left(block)


def _leave(scopes: Scopes, blocks: list[Block], error: BaseException | None) -> None:
    try:
        blocks[0].grant._leave(error)
    finally:
        scopes.left(blocks.pop(0))
        if blocks:
            _leave(scopes, blocks, error)
