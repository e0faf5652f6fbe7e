"""The ends of a block of ``async with``: see :mod:`fencepost._client.scope`."""

from __future__ import annotations

from typing import Any

from .._client.scope import Block, Scopes


async def enter(block: Block, manager: Any) -> Any:
    """``__aenter__``: acquires the lock."""
    scopes: Scopes = manager._scopes
    scopes.entering(block)
    try:
        block.grant = await manager._obtain()
        scopes.entered(block)
        return block.grant
    except BaseException:
        scopes.left(block)
        raise


async def leave(block: Block, manager: Any, kind: Any = None, error: Any = None, trace: Any = None) -> None:
    """``__aexit__``: releases the grant of this block."""
    scopes: Scopes = manager._scopes
    await _leave(scopes, scopes.leaving(block), error)


async def _leave(scopes: Scopes, blocks: list[Block], error: BaseException | None) -> None:
    try:
        await blocks[0].grant._leave(error)
    finally:
        scopes.left(blocks.pop(0))
        if blocks:
            await _leave(scopes, blocks, error)
