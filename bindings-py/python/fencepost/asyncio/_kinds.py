"""The locks of a client for asyncio: one method for each kind of lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from .._client.arguments import (
    Duration,
    Layout,
    OnLeaseEnd,
    OnLost,
    SharedLayout,
    check,
    options_of,
    settings,
    texts,
)
from .._client.codec import JSON, Codec
from .._client.inspection import Subject
from .._client.operations import Operations
from .._engine.wording import unreadable
from ._calls import Calls
from ._idempotency import Idempotency
from ._lock import Election, Lock, ReadWriteLock

AnyLock = TypeVar("AnyLock", bound=Lock)


class Kinds(Calls):
    """The methods that make locks. None of them sends a request."""

    _prefix: str
    _server: str
    """The kind of its server."""

    # `make options` writes the parameters below `bindgen`, and the list below "Options:".

    def lock(
        self,
        name: str,
        *,
        # bindgen: lock
        ttl: Duration | None = None,
        renew: bool | None = None,
        margin: Duration | None = None,
        poll: Duration | None = None,
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        layout: Layout | None = None,
        node_prefix: str | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        owner: str | None = None,
        fair: bool | None = None,
        # bindgen: end
        on_lost: OnLost = "cancel",
    ) -> Lock:
        """A lock: a name with checked settings. This call sends nothing and is cheap. Tasks may share the
        lock. Raises ConfigError.

        Options:

        - ``ttl`` (Redis): the lease: how long the server keeps the lock without a renewal. Range: at least 5
          ms and three times ``margin``, at most 365 days. Default: 10 s.
        - ``renew`` (Redis): whether the client renews the lease after each third of it, until the release.
          Default: ``True``.
        - ``margin`` (Redis): the client ends a grant this much, plus 1 % of the lease, before the lease ends.
          Range: more than 0, to a third of the lease. Default: 2 ms.
        - ``poll`` (Redis): the longest mean time between two requests of a waiter; each time is random, from
          half to one and a half of the mean. Range: more than 0, to 365 days. Default: 100 ms.
        - ``max_hold``: the longest time that a grant lasts; then it is lost with ``"max-hold"``. Range: more
          than 0, to 365 days. Default: none.
        - ``answer_within``: how long a try waits for an answer of the server; on Redis, also the time after
          which the client repeats a request. Range: more than 0, to 365 days. Default: 5 s.
        - ``layout`` (ZooKeeper): the names of the nodes; fencepost and another library exclude each other if
          both use this layout. Range: ``"curator"``, ``"kazoo"``, ``"plain"``; ``"plain"`` for mutex,
          election and multi-lock only. Default: ``"curator"``.
        - ``node_prefix`` (ZooKeeper): what the names of the nodes begin with. Range: with ``"plain"`` only;
          not empty, no ``"/"``, characters as in a name. Default: ``"node_"``.
        - ``identifier`` (ZooKeeper): text in the node, for people and other programs: a host's name, for
          example. Range: at most 1024 bytes. Default: none.
        - ``revocable`` (ZooKeeper): whether a holder sees a revocation request at once, or only with the next
          confirmation of its session. Default: ``False``.
        - ``owner``: makes the lock re-entrant: each acquire of an owner on one client gets its own grant; the
          owner's grants have one fence and are lost together. Range: 1 to 1024 bytes. Default: none.
        - ``fair`` (ZooKeeper): whether waiters get the lock in order; ``False`` makes one node and no queue.
          Default: ``True``.

        Durations are seconds or timedeltas. :meth:`fencepost.Client.lock` describes layouts, unfair locks,
        owners and ``memory:``.

        ``on_lost`` decides what happens to the body of an ``async with`` when its grant is lost. With
        ``"cancel"`` the client cancels the body, as ``asyncio.timeout`` does, and the statement raises
        LockLost. With ``"keep"`` the body runs to its end, and then the statement raises LockLost.
        """
        return self._lock(Lock, "lock", name, options_of(locals()), on_lost)

    def read_write_lock(
        self,
        name: str,
        *,
        # bindgen: read_write_lock
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        layout: SharedLayout | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        owner: str | None = None,
        # bindgen: end
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
        options = options_of(locals())
        reader = self._lock(Lock, "reader", name, options, on_lost)
        return ReadWriteLock(name, reader, self._lock(Lock, "writer", name, options, on_lost))

    def semaphore(
        self,
        name: str,
        permits: int,
        *,
        # bindgen: semaphore
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        layout: SharedLayout | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        # bindgen: end
        on_lost: OnLost = "cancel",
    ) -> Lock:
        """ZooKeeper: the semaphore of that name. At most ``permits`` contenders hold it at a time. Waiters
        get it in the order of their arrival.

        All contenders must pass the same number of permits. The fence of a permit identifies it. It does not
        show which of two permits is the newer one. Options are those of :meth:`lock`; the layouts are
        ``"curator"`` and ``"kazoo"``. Raises ConfigError.
        """
        options = {**options_of(locals()), "permits": permits}
        return self._lock(Lock, "semaphore", name, options, on_lost)

    def election(
        self,
        name: str,
        *,
        # bindgen: election
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        layout: Layout | None = None,
        node_prefix: str | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        # bindgen: end
        on_lost: OnLost = "cancel",
    ) -> Election:
        """ZooKeeper: the election of that name. The ``identifier`` shows other programs which candidate
        leads::

            async with client.election("scheduler", identifier="host-7") as term:
                lead(until=term.lost)

        Options are those of :meth:`lock`. Raises ConfigError.
        """
        return self._lock(Election, "election", name, options_of(locals()), on_lost)

    def multi_lock(
        self,
        names: Iterable[str],
        *,
        # bindgen: multi_lock
        max_hold: Duration | None = None,
        answer_within: Duration | None = None,
        layout: Layout | None = None,
        node_prefix: str | None = None,
        identifier: str | None = None,
        revocable: bool | None = None,
        # bindgen: end
        on_lost: OnLost = "cancel",
    ) -> Lock:
        """ZooKeeper: acquires several locks together, up to 64, or none of them::

            async with client.multi_lock(["account/7", "account/9"]) as grant:
                ...

        The client enters the queues of all the locks in one transaction. So multi-locks cannot deadlock each
        other, in any order of their names. Other contenders can acquire each of the locks alone. A program
        that holds one of the locks alone and waits for another one can still deadlock with a multi-lock. All
        locks of a grant have the same fence. Options are those of :meth:`lock`. Raises ConfigError.
        """
        options = options_of(locals())
        wanted = texts("the names of locks", names)
        return self._lock(Lock, "multi-lock", ", ".join(wanted), {**options, "names": wanted}, on_lost)

    def idempotency(
        self,
        scope: str,
        *,
        # bindgen: idempotency
        renew: bool | None = None,
        margin: Duration | None = None,
        poll: Duration | None = None,
        answer_within: Duration | None = None,
        lease: Duration | None = None,
        retention: Duration | None = None,
        on_lease_end: OnLeaseEnd | None = None,
        # bindgen: end
        codec: Codec = JSON,
    ) -> Idempotency:
        """A scope of idempotent operations. Each operation of the scope has a key and one result::

            payments = client.idempotency("payments", on_lease_end="indeterminate")

            @payments.once(key=lambda order: order.id)
            async def pay(order): ...

            async with payments.claim("order-17", fingerprint=digest) as claim:
                if not claim.replayed:
                    await claim.complete(await charge(claim.derive("charge")))
                return claim.result

        The scope names the kind of operation and the tenant to which the keys belong. ``retention`` is how
        long the server keeps a record after it was last written (24 h). ``on_lease_end`` is the policy for a
        claim when the lease of an earlier attempt has ended. With ``"retake"`` the claim gets the operation,
        which may then run twice. With ``"block"`` it raises InProgress, and with ``"indeterminate"``
        Indeterminate. The first claim of an operation sets its policy. ``codec`` converts results to bytes.
        ``lease`` is how long a claim on Redis lasts without a renewal (30 s); on ZooKeeper it lasts as long
        as the session. ``renew``, ``margin``, ``poll`` and ``answer_within`` are those of a lock. This call
        sends nothing. Raises ConfigError.
        """
        options = options_of(locals())
        self._engine.check_open()
        return Idempotency(self, Operations(self._server, self._prefix, scope, options, codec))

    def _lock(
        self,
        lock: type[AnyLock],
        kind: str,
        name: str,
        options: Mapping[str, object],
        on_lost: OnLost,
    ) -> AnyLock:
        if on_lost not in ("cancel", "keep"):
            raise unreadable(f'on_lost is {on_lost!r}, which is not known: give "cancel" or "keep"')
        self._engine.check_open()
        raw = settings(self._server, self._prefix, kind, name, options)
        return lock(self, name, check(raw), Subject(name, raw), on_lost == "cancel")
