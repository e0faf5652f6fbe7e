"""What a client for threads makes: one method for each kind of lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ._lock import Election, Lock, ReadWriteLock
from ._unique import Unique
from ._values import MULTI_LOCK, Duration, Layout, SharedLayout, plain_kind, texts

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
    ) -> Lock:
        """A lock: a name with checked settings. This call sends nothing and is cheap. Threads may share the
        lock.

        Durations are seconds or timedeltas. For every server: ``max_hold`` is the longest time for which a
        grant may be held (no limit by default). ``answer_within`` is the longest time that the server may
        take for one answer (5).

        For Redis: ``ttl`` is the lease (10). ``renew`` says whether the client renews the lease until the
        release (True). ``margin`` is the time by which a grant ends early on the client's clock (0.002).
        ``poll`` is the longest time between two requests of a waiter (0.1). ``memory:`` accepts and checks
        these four options. They have no effect there: a grant lasts as long as its client.

        For ZooKeeper: ``layout`` decides the names of the contenders' nodes. ``"curator"`` (the default) has
        Apache Curator's names, ``"kazoo"`` has kazoo's. In ``"plain"`` a name is ``node_prefix`` (``node_``)
        and a number. Locks of another library and of fencepost exclude each other if they have the same
        layout. ``identifier`` is a text in the contender's node, for people and other programs (at most 1024
        bytes). ``revocable`` says whether the client watches for revocation requests (False): see
        :attr:`Grant.revoke_requested`.

        ``fair=False`` makes a lock without a queue, on a single node. It is the cheapest lock, for programs
        that try and seldom wait. Each release wakes all waiters, and any one of them gets the lock. It does
        not exclude a fair lock of the same name, so all processes have to use the same setting. It has no
        layout and is not revocable.

        ``owner`` is a name for the part of the program that acquires, such as a request (1 to 1024 bytes).
        An owner that holds the lock can acquire it again: through any lock of this client with the same name
        and owner, and in any thread. The owner gets a further grant at once, with the same fence, and the
        client sends nothing. When the owner has released all its grants, the client releases the lock. While
        an owner waits for its first grant, its other acquires raise MisuseError (``busy``). Without an
        owner, each acquire is a new contender. Raises ConfigError.
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
    ) -> ReadWriteLock:
        """ZooKeeper: the read/write lock of that name. Use its ``reader`` and its ``writer`` as locks::

            prices = client.read_write_lock("prices")
            with prices.reader:
                ...
            with prices.writer as grant:
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
        reader = self._lock(Lock, "reader", name, options)
        return ReadWriteLock(name, reader, self._lock(Lock, "writer", name, options))

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
    ) -> Election:
        """ZooKeeper: the election of that name. The ``identifier`` tells other programs which candidate
        leads::

            with client.election("scheduler", identifier="host-7") as term:
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
    ) -> Lock:
        """ZooKeeper: acquires several locks together, up to 64, or none of them::

            with client.multi_lock(["account/7", "account/9"]) as grant:
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
        return self._lock(Lock, MULTI_LOCK, ", ".join(wanted), {"names": wanted, **options})

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
    ) -> AnyLock:
        raise NotImplementedError
