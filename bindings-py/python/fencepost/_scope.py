"""Scopes: the blocks of ``with`` statements, each with the grant that it has opened.

Python looks ``__enter__`` and ``__exit__`` of an object up together, before it enters the block; so do
``contextlib.ExitStack`` and ``unittest``. For locks the two are properties. Looked up together they give the
two ends of one new :class:`Block`, so leaving ends the grant of that block and no other, in whatever order
blocks end and in whatever thread or task. The statement alone refers to its block: when an interrupt comes
between the last step of entering and the body, the block goes, and the grant's finalizer releases it.

A call such as ``lock.__exit__(None, None, None)`` says nothing of its block. What was entered by such calls
is kept in :class:`Scopes`. The thread or task of the call says nothing either: frameworks enter in one thread
and leave in another.
"""

from __future__ import annotations

import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

from ._fencepost import misuse
from ._grant import BaseGrant
from .errors import MisuseError


class Block:
    """One block: what was acquired for it, from its entry to its exit."""

    __slots__ = ("__weakref__", "exit", "grant", "has_entry", "open")

    def __init__(self) -> None:
        self.has_entry = False
        """Whether the end that enters it was looked up."""
        self.exit: ref[Callable[..., Any]] | None = None
        """The end that leaves it, as long as the program has that end."""
        self.grant: Any = None
        self.open = False
        """Whether it is being entered, or was entered and not left."""


class _Here(threading.local):
    """What a thread has looked up last: the ends of a block that is not entered yet. Identities only, as
    nothing may live longer because somebody has looked.
    """

    block: Block | None = None
    manager = 0
    frame = 0


_here = _Here()


class End:
    """``__enter__`` or ``__exit__`` of a class: a property with an end of a block.

    The other end is looked up next, in the same frame and of the same object (of the class: by ExitStack),
    and in either order: Python 3.14 and Cython begin with the exit.
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
    """The blocks of one lock, or of one ``hold()``, as far as they have to be known."""

    __slots__ = ("_by_hand", "_guard", "_latest", "_refused", "_single")

    def __init__(self, single: bool) -> None:
        self._single = single
        """Whether it is for one block at a time."""
        self._latest: ref[Block] | None = None
        self._by_hand: list[Block] = []
        """Those whose exit will be looked up when they are left."""
        self._refused = 0
        """How many exits could have meant several of these."""
        self._guard = allocate_lock()

    def entering(self, block: Block) -> None:
        """A block is being entered. Raises MisuseError for a second one at a time where there may be one."""
        if _here.block is block:
            _here.block = None
        with self._guard:
            latest = None if self._latest is None else self._latest()
            if block.open or (self._single and latest is not None and latest.open):
                raise MisuseError(
                    "this scope is open already, or is being entered: make one with hold() for each block",
                    204,
                    "busy",
                )
            if self._single:
                self._latest = ref(block)
            block.open = True

    def entered(self, block: Block, grant: BaseGrant) -> None:
        """The block has its grant."""
        block.grant = grant
        if block.exit is None or block.exit() is None:
            with self._guard:
                self._by_hand.append(block)

    def leaving(self, block: Block) -> list[Block]:
        """The blocks that an exit leaves: one, as a rule. Raises MisuseError if there is none, or if several
        could be meant.
        """
        if _here.block is block:
            _here.block = None
        if block.grant is not None:
            return [block]
        with self._guard:
            known = self._by_hand
            if not known:
                raise misuse("not-held")
            # As many exits as blocks: all of them have been left.
            if len(known) == self._refused + 1:
                return known[:]
            # What one owner holds several times is the same each time.
            if len({(each.grant._hold.contender, each.grant._hold.shared) for each in known}) == 1:
                return known[-1:]
            self._refused += 1
            raise MisuseError(
                f"{known[0].grant.name}: this exit could mean any of {len(known)} open scopes, so nothing is "
                "released before all of them have been left: use `with`, or a hold() for each scope",
                541,
                "ambiguous-scope",
            )

    def left(self, block: Block) -> None:
        """The block has ended, or was never entered."""
        block.open = False
        block.grant = None
        with self._guard:
            if block in self._by_hand:
                self._by_hand.remove(block)
            if not self._by_hand:
                self._refused = 0


def enter(block: Block, manager: Any) -> Any:
    """Acquires the lock."""
    scopes: Scopes = manager._scopes
    scopes.entering(block)
    try:
        scopes.entered(block, manager._obtain())
        return block.grant
    except BaseException:
        scopes.left(block)
        raise


def leave(block: Block, manager: Any, kind: Any = None, error: Any = None, trace: Any = None) -> None:
    """Releases what this block has acquired."""
    scopes: Scopes = manager._scopes
    _leave(scopes, scopes.leaving(block), error)


def _leave(scopes: Scopes, blocks: list[Block], error: BaseException | None) -> None:
    try:
        blocks[0].grant._leave(error)
    finally:
        scopes.left(blocks.pop(0))
        if blocks:
            _leave(scopes, blocks, error)
