"""What a client for asyncio makes: one method for each kind of lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from .._unique import Unique
from .._values import MULTI_LOCK, Duration, Layout, OnLost, SharedLayout, plain_kind, texts
from ._lock import Election, Lock, ReadWriteLock

AnyLock = TypeVar("AnyLock", bound=Lock)


class Kinds(Unique):
    """The constructors of locks. None of them sends anything."""

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
        """A lock: a name with checked settings. This call sends nothing and is cheap. Tasks may share the
        lock.

        Options are those of :meth:`fencepost.Client.lock`, and ``on_lost``. It decides what happens to the
        body of an ``async with`` when its grant is lost. With ``"cancel"`` the client cancels the body, as
        ``asyncio.timeout`` does, and the statement raises LockLost. With ``"keep"`` the body runs to its
        end, and then the statement raises LockLost. Raises ConfigError.
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
                "owner": owner,
            },
            on_lost,
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
        """ZooKeeper: the read/write lock of that name. Use its ``reader`` and its ``writer`` as locks::

            prices = client.read_write_lock("prices")
            async with prices.reader:
                ...
            async with prices.writer as grant:
                ...

        Options are those of :meth:`lock`; the layouts are ``"curator"`` and ``"kazoo"``. An ``owner`` that
        holds the writer can acquire the reader as well. When it has released all grants of the writer, the
        grants of the reader keep the lock, and other readers can share it. An owner that holds the reader
        and acquires the writer gets a MisuseError (``upgrade``), and keeps the reader. Raises ConfigError.
        """
        options = {
            "layout": layout,
            "identifier": identifier,
            "revocable": revocable,
            "owner": owner,
            "max_hold": max_hold,
            "answer_within": answer_within,
        }
        reader = self._lock(Lock, "reader", name, options, on_lost)
        return ReadWriteLock(name, reader, self._lock(Lock, "writer", name, options, on_lost))

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
        """ZooKeeper: the semaphore of that name. At most ``permits`` contenders hold it at a time. Waiters
        get it in the order in which they came.

        All contenders have to give the same number of permits. The fence of a permit identifies it; it does
        not say which of two permits is the newer one. Options are those of :meth:`lock`; the layouts are
        ``"curator"`` and ``"kazoo"``. Raises ConfigError.
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
        """ZooKeeper: the election of that name. The ``identifier`` tells other programs which candidate
        leads::

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
        """ZooKeeper: acquires several locks together, up to 64, or none of them::

            async with client.multi_lock(["account/7", "account/9"]) as grant:
                ...

        The client enters the queues of all the locks in one transaction. So multi-locks cannot deadlock
        each other, whatever the order of their names. Other contenders can acquire each of the locks alone.
        A program that holds one of the locks alone and waits for another one can still deadlock with a
        multi-lock. All locks of a grant have the same fence. Options are those of :meth:`lock`. Raises
        ConfigError.
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
    ) -> AnyLock:
        raise NotImplementedError
