"""A network for the members of an ensemble: each in its own namespace, and a switch in another one.

Nothing of it is in this process's namespace, and it has no route outside. Its addresses are reserved for
examples.
"""

from __future__ import annotations

from .namespace import Namespace


class Network:
    """Members are numbered from 1, as in ZooKeeper's configuration."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._switch: Namespace | None = None
        self._members: dict[int, Namespace] = {}

    def address(self, member: int) -> str:
        """The address of a member, for the other members."""
        return f"192.0.2.{member}"

    def up(self) -> None:
        """Makes the namespaces, the switch and the cables."""
        self._switch = Namespace()
        self._switch.ip("link add name switch type bridge", "link set switch up")
        for member in range(1, self._size + 1):
            there = self._members[member] = Namespace()
            self._switch.ip(
                f"link add {cable(member)} type veth peer name eth0 netns {there.path}",
                f"link set {cable(member)} up",
            )
            there.ip(
                "link set lo up",
                f"address add {self.address(member)}/24 dev eth0",
                "link set eth0 up",
            )
            self.plug(member)

    def inside(self, member: int) -> Namespace:
        """The namespace of a member."""
        return self._members[member]

    def unplug(self, member: int) -> None:
        """Drops all packets from and to the member from now on, without an error to either side."""
        self._at_switch(f"link set {cable(member)} nomaster")

    def depose(self, member: int) -> None:
        """Unplugs the member, and resets the others' ends of their connections with it."""
        self.unplug(member)
        for number, namespace in self._members.items():
            if number != member:
                namespace.run("ss", "--kill", "--tcp", "dst", self.address(member))

    def plug(self, member: int) -> None:
        """Connects the member (again)."""
        self._at_switch(f"link set {cable(member)} master switch")

    def down(self) -> None:
        """Closes the namespaces: each ends with its last process."""
        for namespace in (self._switch, *self._members.values()):
            if namespace is not None:
                namespace.close()
        self._switch = None
        self._members.clear()

    def _at_switch(self, command: str) -> None:
        assert self._switch is not None
        self._switch.ip(command)


def cable(member: int) -> str:
    """The switch's end of a member's cable."""
    return f"member{member}"
