"""Connects ZooKeeper servers to an ensemble."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .server import RUNNING, ServerError
from .zookeeper import EVERYBODY, ZooKeeper

LEADER_SECONDS = 45.0
POLL_SECONDS = 0.02


class Ensemble:
    """Members that know each other; `quorum` has the address and the (peer, election) ports of each."""

    def __init__(self, members: Sequence[ZooKeeper], quorum: Sequence[tuple[str, int, int]]) -> None:
        self.members = list(members)
        lines = [
            f"server.{number}={host}:{peer}:{election}"
            for number, (host, peer, election) in enumerate(quorum, start=1)
        ]
        for number, member in enumerate(self.members, start=1):
            member.identity = number
            member.members = lines
            member.serves = self.has_quorum

    def has_quorum(self) -> bool:
        """Whether a majority of the members runs, and is neither paused nor cut off."""
        return 2 * len(self._running()) > len(self.members)

    async def leader(self) -> ZooKeeper:
        """The leader. Waits for an election in progress."""
        deadline = asyncio.get_running_loop().time() + LEADER_SECONDS
        while True:
            if not self.has_quorum():
                some, all_of_them = len(self._running()), len(self.members)
                raise ServerError(f"no leader: {some} of {all_of_them} members run and are not cut off")
            members = self._running()
            modes = await asyncio.gather(*(member.mode() for member in members))
            leaders = [member for member, mode in zip(members, modes, strict=True) if mode == "leader"]
            if len(leaders) == 1:
                return leaders[0]
            if asyncio.get_running_loop().time() > deadline:
                raise ServerError(f"no leader was elected within {LEADER_SECONDS:.0f} s")
            await asyncio.sleep(POLL_SECONDS)

    def _running(self) -> list[ZooKeeper]:
        return [member for member in self.members if member.state == RUNNING and member.contact == EVERYBODY]
