"""Three members that can be killed, paused and disconnected."""

from __future__ import annotations

from steer import Servers
from tree import Tree

NAMES = ("ensemble-1", "ensemble-2", "ensemble-3")
#: The command that undoes each fault.
CURES = {"kill": "start", "pause": "resume", "cut": "heal", "isolate": "heal"}


class Ensemble(Servers):
    """A run of tests/servers with an ensemble in network namespaces."""

    def __init__(self, version: str, *options: str) -> None:
        super().__init__("--ensemble", "--namespaces", "--zookeeper-version", version, *options)

    @property
    def members(self) -> list[str]:
        """The members' addresses."""
        return self.addresses["FENCEPOST_ZOOKEEPER_ENSEMBLE"].split(",")

    @property
    def hosts(self) -> str:
        """All members."""
        return ",".join(self.members)

    def address(self, name: str) -> str:
        """A member's address."""
        return self.members[NAMES.index(name)]

    def others(self, name: str) -> str:
        """The addresses of the other members."""
        return ",".join(self.address(other) for other in NAMES if other != name)

    def member(self, what: str) -> str:
        """The name of the leader, or of a follower."""
        leader = str(self.do("leader")["name"])
        return leader if what == "leader" else next(name for name in NAMES if name != leader)

    def wait_for_no_contenders(self, paths: list[str]) -> None:
        """Waits until no contender has a node below these paths."""
        tree = Tree(self.hosts)
        try:
            for path in paths:
                tree.wait_for_none(path)
        finally:
            tree.close()
