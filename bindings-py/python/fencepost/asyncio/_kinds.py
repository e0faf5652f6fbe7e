"""What a client for asyncio makes: one method for each kind of lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from .._unique import Unique
from .._values import MULTI_LOCK, Duration, Layout, OnLost, SharedLayout, plain_kind, texts
from ._lock import Election, Lock, ReadWriteLock

AnyLock = TypeVar("AnyLock", bound=Lock)


class Kinds(Unique):
    """The constructors of a client. None of them sends anything."""

    _family: str

    def lock(
        self,
        name: str,
        *,
        ttl: Duration | None = None,
        renew: bool | None = None,
        max_hold: Duration | None = None,
        margin: Duration | None = None,
        poll: Duration | None = None,
        answer_within: Duration | None = None,
        layout: Layout | None = None,
        node_prefix: str | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        owner: str | None = None,
        fair: bool | None = None,
        on_lost: OnLost = "cancel",
    ) -> Lock:
        """A lock: a name with checked settings. It sends nothing and is cheap; tasks share it freely.

        Options are those of :meth:`fencepost.Client.lock`, and ``on_lost``: what becomes of the body of an
        ``async with`` whose grant is lost. ``"cancel"``: it is cancelled, as ``asyncio.timeout`` does it, and
        LockLost is raised; ``"keep"``: it runs on, and LockLost is raised at its end. Raises ConfigError.
        """
        return self._lock(
            Lock,
            plain_kind(self._family, fair),
            name,
            {
                "ttl": ttl,
                "renew": renew,
                "max_hold": max_hold,
                "margin": margin,
                "poll": poll,
                "answer_within": answer_within,
                "layout": layout,
                "node_prefix": node_prefix,
                "identifier": identifier,
                "revocable": revocable,
            },
            on_lost,
            owner,
        )

    def read_write_lock(
        self,
        name: str,
        *,
        layout: SharedLayout | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        owner: str | None = None,
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        on_lost: OnLost = "cancel",
    ) -> ReadWriteLock:
        """ZooKeeper: the read/write lock of that name. Its ``reader`` and ``writer`` are locks like others::

            prices = client.read_write_lock("prices")
            async with prices.reader:
                ...
            async with prices.writer as grant:
                ...

        Options are those of :meth:`lock`; the layouts are ``"curator"`` and ``"kazoo"``. A writer's ``owner``
        may acquire the reader as well, and is a reader when its grants of the writer have been released. A
        reader's owner that acquires the writer gets a MisuseError (``upgrade``), and keeps its share. Raises
        ConfigError.
        """
        options = {
            "layout": layout,
            "identifier": identifier,
            "revocable": revocable,
            "max_hold": max_hold,
            "answer_within": answer_within,
        }
        reader = self._lock(Lock, "reader", name, options, on_lost, owner)
        return ReadWriteLock(name, reader, self._lock(Lock, "writer", name, options, on_lost, owner))

    def semaphore(
        self,
        name: str,
        permits: int,
        *,
        layout: SharedLayout | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        on_lost: OnLost = "cancel",
    ) -> Lock:
        """ZooKeeper: the semaphore of that name. So many contenders hold it at a time, first come, first
        served.

        All contenders have to give the same number of permits. The fence of a permit tells it from others,
        and orders nothing. Options are those of :meth:`lock`; the layouts are ``"curator"`` and ``"kazoo"``.
        Raises ConfigError.
        """
        return self._lock(
            Lock,
            "semaphore",
            name,
            {
                "permits": permits,
                "layout": layout,
                "identifier": identifier,
                "revocable": revocable,
                "max_hold": max_hold,
                "answer_within": answer_within,
            },
            on_lost,
        )

    def election(
        self,
        name: str,
        *,
        layout: Layout | None = None,
        node_prefix: str | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        on_lost: OnLost = "cancel",
    ) -> Election:
        """ZooKeeper: the election of that name. The identifier tells the others who leads::

            async with client.election("scheduler", identifier="host-7") as term:
                lead(until=term.lost)

        Options are those of :meth:`lock`. Raises ConfigError.
        """
        return self._lock(
            Election,
            "election",
            name,
            {
                "layout": layout,
                "node_prefix": node_prefix,
                "identifier": identifier,
                "revocable": revocable,
                "max_hold": max_hold,
                "answer_within": answer_within,
            },
            on_lost,
        )

    def multi_lock(
        self,
        names: Iterable[str],
        *,
        layout: Layout | None = None,
        node_prefix: str | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        on_lost: OnLost = "cancel",
    ) -> Lock:
        """ZooKeeper: many locks or none (up to 64), with a place in every line taken at once::

            async with client.multi_lock(["account/7", "account/9"]) as grant:
                ...

        In whatever order names are given, those who take many at once cannot deadlock. Others may take any
        of them alone; who holds one and waits for another can still wait for one that waits for it. All have
        the same fence. Options are those of :meth:`lock`. Raises ConfigError.
        """
        options = {
            "layout": layout,
            "node_prefix": node_prefix,
            "identifier": identifier,
            "revocable": revocable,
            "max_hold": max_hold,
            "answer_within": answer_within,
        }
        wanted = texts("the names of locks", names)
        return self._lock(Lock, MULTI_LOCK, ", ".join(wanted), {"names": wanted, **options}, on_lost)

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
        on_lost: OnLost,
        owner: str | None = None,
    ) -> AnyLock:
        raise NotImplementedError
