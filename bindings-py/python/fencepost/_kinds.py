"""What a client for threads makes: one method for each kind of lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ._lock import Election, Lock, ReadWriteLock
from ._unique import Unique
from ._values import MULTI_LOCK, Duration, Layout, SharedLayout, plain_kind, texts

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
    ) -> Lock:
        """A lock: a name with checked settings. It sends nothing and is cheap; threads share it freely.

        Durations are seconds or timedeltas. For every server: ``max_hold``, the longest hold allowed (no
        limit), and ``answer_within``, how long one answer may take (5). For Redis: ``ttl``, the lease (10),
        ``renew``, whether it is renewed until the release (True), ``margin``, what is taken off its validity
        (0.002), ``poll``, how often a waiter asks at the latest (0.1). ``memory:`` takes and checks these
        four, too; they have no effect there, as a grant lasts as long as its client.

        For ZooKeeper: ``layout``, the names that contenders have on the server: ``"curator"`` (Apache
        Curator's, the usual ones), ``"kazoo"``, or ``"plain"``, which is ``node_prefix`` (``node_``) with a
        number, as home-made locks have it. In its layout a library excludes us, and we exclude it.
        ``identifier``, what the contender's node says for people and peers (at most 1024 bytes), and
        ``revocable``, whether a wish for the lock is heard of at once (False): see
        :attr:`Grant.revoke_requested`.

        ``fair=False``, for locks that are tried rather than waited for: a single node, the cheapest lock
        there is, without a line. Each release wakes all who wait, and any of them gets it. A fair lock of the
        same name is another one, so all processes have to agree. It has no layout, and is not revocable.

        ``owner``, who acquires, by a name of your choice (1 to 1024 bytes): what an owner holds it may
        acquire again, through any lock of this client with that name, in any thread. It gets a grant of its
        own at once, with the same fence, and nothing is sent; the lock is given back with the last of them.
        While an owner waits for its first grant, its other acquires are MisuseErrors (``busy``). Without an
        owner each acquire is a new contender. Raises ConfigError.
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
    ) -> ReadWriteLock:
        """ZooKeeper: the read/write lock of that name. Its ``reader`` and ``writer`` are locks like others::

            prices = client.read_write_lock("prices")
            with prices.reader:
                ...
            with prices.writer as grant:
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
        reader = self._lock(Lock, "reader", name, options, owner)
        return ReadWriteLock(name, reader, self._lock(Lock, "writer", name, options, owner))

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
        """ZooKeeper: the election of that name. The identifier tells the others who leads::

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
        """ZooKeeper: many locks or none (up to 64), with a place in every line taken at once::

            with client.multi_lock(["account/7", "account/9"]) as grant:
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
        return self._lock(Lock, MULTI_LOCK, ", ".join(wanted), {"names": wanted, **options})

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
        owner: str | None = None,
    ) -> AnyLock:
        raise NotImplementedError
