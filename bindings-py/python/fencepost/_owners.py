"""Re-entry: an owner that acquires what it holds already gets a further hold of the same grant, without a
request.
"""

from __future__ import annotations

from typing import NamedTuple

from ._contender import Contender, Hold, State
from ._fencepost import misuse
from ._values import text
from .errors import ConfigError, MisuseError

_LONGEST = 1024
_GROUPS = {"reader": "read-write", "writer": "read-write"}
"""The kinds of locks that are two sides of one; the others are what they are."""


class Ownership(NamedTuple):
    """What an owner holds once at most."""

    group: str
    name: str
    owner: str


def ownership(kind: str, name: str, owner: object) -> Ownership | None:
    """What an owner of such a lock holds; None without an owner. Raises ConfigError."""
    if owner is None:
        return None
    checked = text("owner", owner, "request-17")
    length = len(checked.encode())
    if not 1 <= length <= _LONGEST:
        shown = checked if length <= _LONGEST else f"{checked[:32]}…"
        why = "longer than 1024 bytes" if checked else "empty: call it something, or leave it away"
        raise ConfigError(f'owner is "{shown}": it is {why}', 110, "invalid-option")
    return Ownership(_GROUPS.get(kind, kind), name, checked)


class Owners:
    """What the owners of a client hold or wait for. Used inside the engine's critical section only."""

    def __init__(self) -> None:
        self._contenders: dict[Ownership, Contender] = {}

    def enter(self, hold: Hold) -> bool:
        """An owner acquires. True: it holds the lock already, and now once more; False: it has to contend.

        Raises MisuseError if it waits already, and if it would have to be upgraded.
        """
        contender = hold.contender
        if contender.ownership is not None:
            held = self._contenders.get(contender.ownership)
            if held is not None and held.state is State.WAITING:
                raise _busy(contender.ownership)
            if held is not None and held.is_held():
                if held.shared and not hold.shared:
                    raise misuse("upgrade")
                hold.contender = held
                held.holds.add(hold)
                return True
            self._contenders[contender.ownership] = contender
        contender.holds.add(hold)
        return False

    def leave(self, contender: Contender) -> None:
        """Whoever acquires from now on contends anew."""
        if contender.ownership is not None and self._contenders.get(contender.ownership) is contender:
            del self._contenders[contender.ownership]


def _busy(wanted: Ownership) -> MisuseError:
    return MisuseError(
        f'{wanted.name}: the owner "{wanted.owner}" is already waiting for this lock: wait for that acquire, '
        "or give this one an owner of its own",
        204,
        "busy",
    )
