/**
 * The options of locks. Written by `make options` from the core's table.
 *
 * @module
 */

/** The options of a lock. Durations are numbers of ms. */
export interface LockOptions {
  /**
   * Redis (`memory:` checks and ignores it): the lease: how long the server keeps the lock without a renewal. In ms.
   * Range: at least 5 ms and three times `margin`, at most 365 days. Default: 10 s.
   */
  readonly ttl?: number | undefined;
  /**
   * Redis (`memory:` checks and ignores it): whether the client renews the lease after each third of it, until the
   * release. Default: `true`.
   */
  readonly renew?: boolean | undefined;
  /**
   * Redis (`memory:` checks and ignores it): the client ends a grant this much, plus 1 % of the lease, before the lease
   * ends. In ms. Range: more than 0, to a third of the lease. Default: 2 ms.
   */
  readonly margin?: number | undefined;
  /**
   * Redis (`memory:` checks and ignores it): the longest mean time between two requests of a waiter; each time is
   * random, from half to one and a half of the mean. In ms. Range: more than 0, to 365 days. Default: 100 ms.
   */
  readonly poll?: number | undefined;
  /**
   * The longest time that a grant lasts; then it is lost with `max-hold`. In ms. Range: more than 0, to 365 days.
   * Default: none.
   */
  readonly maxHold?: number | undefined;
  /**
   * How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request.
   * In ms. Range: more than 0, to 365 days. Default: 5 s.
   */
  readonly answerWithin?: number | undefined;
  /**
   * ZooKeeper and `memory:`: the names of the nodes; fencepost and another library exclude each other if both use this
   * layout. Range: `curator`, `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default: `curator`.
   */
  readonly layout?: "curator" | "kazoo" | "plain" | undefined;
  /**
   * ZooKeeper and `memory:`: what the names of the nodes begin with. Range: with `plain` only; not empty, no `/`,
   * characters as in a name. Default: `node_`.
   */
  readonly nodePrefix?: string | undefined;
  /**
   * ZooKeeper and `memory:`: text in the node, for people and other programs: a host's name, for example. Range: at
   * most 1024 bytes. Default: none.
   */
  readonly identifier?: string | undefined;
  /**
   * ZooKeeper and `memory:`: whether a holder sees a revocation request at once, or only with the next confirmation of
   * its session. Default: `false`.
   */
  readonly revocable?: boolean | undefined;
  /**
   * Makes the lock re-entrant: each acquire of an owner on one client gets its own grant; the owner's grants have one
   * fence and are lost together. Range: 1 to 1024 bytes. Default: none.
   */
  readonly owner?: string | undefined;
  /**
   * ZooKeeper and `memory:`: whether waiters get the lock in order; `false` makes one node and no queue. Default:
   * `true`.
   */
  readonly fair?: boolean | undefined;
}

/** The options of a read/write lock. Durations are numbers of ms. */
export interface ReadWriteLockOptions {
  /**
   * The longest time that a grant lasts; then it is lost with `max-hold`. In ms. Range: more than 0, to 365 days.
   * Default: none.
   */
  readonly maxHold?: number | undefined;
  /**
   * How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request.
   * In ms. Range: more than 0, to 365 days. Default: 5 s.
   */
  readonly answerWithin?: number | undefined;
  /**
   * The names of the nodes; fencepost and another library exclude each other if both use this layout. Range: `curator`,
   * `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default: `curator`.
   */
  readonly layout?: "curator" | "kazoo" | "plain" | undefined;
  /**
   * Text in the node, for people and other programs: a host's name, for example. Range: at most 1024 bytes. Default:
   * none.
   */
  readonly identifier?: string | undefined;
  /**
   * Whether a holder sees a revocation request at once, or only with the next confirmation of its session. Default:
   * `false`.
   */
  readonly revocable?: boolean | undefined;
  /**
   * Makes the lock re-entrant: each acquire of an owner on one client gets its own grant; the owner's grants have one
   * fence and are lost together. Range: 1 to 1024 bytes. Default: none.
   */
  readonly owner?: string | undefined;
}

/** The options of a semaphore. Durations are numbers of ms. */
export interface SemaphoreOptions {
  /**
   * The longest time that a grant lasts; then it is lost with `max-hold`. In ms. Range: more than 0, to 365 days.
   * Default: none.
   */
  readonly maxHold?: number | undefined;
  /**
   * How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request.
   * In ms. Range: more than 0, to 365 days. Default: 5 s.
   */
  readonly answerWithin?: number | undefined;
  /**
   * The names of the nodes; fencepost and another library exclude each other if both use this layout. Range: `curator`,
   * `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default: `curator`.
   */
  readonly layout?: "curator" | "kazoo" | "plain" | undefined;
  /**
   * Text in the node, for people and other programs: a host's name, for example. Range: at most 1024 bytes. Default:
   * none.
   */
  readonly identifier?: string | undefined;
  /**
   * Whether a holder sees a revocation request at once, or only with the next confirmation of its session. Default:
   * `false`.
   */
  readonly revocable?: boolean | undefined;
}

/** The options of an election. Durations are numbers of ms. */
export interface ElectionOptions {
  /**
   * The longest time that a grant lasts; then it is lost with `max-hold`. In ms. Range: more than 0, to 365 days.
   * Default: none.
   */
  readonly maxHold?: number | undefined;
  /**
   * How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request.
   * In ms. Range: more than 0, to 365 days. Default: 5 s.
   */
  readonly answerWithin?: number | undefined;
  /**
   * The names of the nodes; fencepost and another library exclude each other if both use this layout. Range: `curator`,
   * `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default: `curator`.
   */
  readonly layout?: "curator" | "kazoo" | "plain" | undefined;
  /**
   * What the names of the nodes begin with. Range: with `plain` only; not empty, no `/`, characters as in a name.
   * Default: `node_`.
   */
  readonly nodePrefix?: string | undefined;
  /**
   * Text in the node, for people and other programs: a host's name, for example. Range: at most 1024 bytes. Default:
   * none.
   */
  readonly identifier?: string | undefined;
  /**
   * Whether a holder sees a revocation request at once, or only with the next confirmation of its session. Default:
   * `false`.
   */
  readonly revocable?: boolean | undefined;
}

/** The options of a multi-lock. Durations are numbers of ms. */
export interface MultiLockOptions {
  /**
   * The longest time that a grant lasts; then it is lost with `max-hold`. In ms. Range: more than 0, to 365 days.
   * Default: none.
   */
  readonly maxHold?: number | undefined;
  /**
   * How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request.
   * In ms. Range: more than 0, to 365 days. Default: 5 s.
   */
  readonly answerWithin?: number | undefined;
  /**
   * The names of the nodes; fencepost and another library exclude each other if both use this layout. Range: `curator`,
   * `kazoo`, `plain`; `plain` for mutex, election and multi-lock only. Default: `curator`.
   */
  readonly layout?: "curator" | "kazoo" | "plain" | undefined;
  /**
   * What the names of the nodes begin with. Range: with `plain` only; not empty, no `/`, characters as in a name.
   * Default: `node_`.
   */
  readonly nodePrefix?: string | undefined;
  /**
   * Text in the node, for people and other programs: a host's name, for example. Range: at most 1024 bytes. Default:
   * none.
   */
  readonly identifier?: string | undefined;
  /**
   * Whether a holder sees a revocation request at once, or only with the next confirmation of its session. Default:
   * `false`.
   */
  readonly revocable?: boolean | undefined;
}

/** The options of a claim. Durations are numbers of ms. */
export interface IdempotencyOptions {
  /**
   * Redis (`memory:` checks and ignores it): whether the client renews the lease after each third of it, until the
   * release. Default: `true`.
   */
  readonly renew?: boolean | undefined;
  /**
   * Redis (`memory:` checks and ignores it): the client ends a grant this much, plus 1 % of the lease, before the lease
   * ends. In ms. Range: more than 0, to a third of the lease. Default: 2 ms.
   */
  readonly margin?: number | undefined;
  /**
   * Redis (`memory:` checks and ignores it): the longest mean time between two requests of a waiter; each time is
   * random, from half to one and a half of the mean. In ms. Range: more than 0, to 365 days. Default: 100 ms.
   */
  readonly poll?: number | undefined;
  /**
   * How long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request.
   * In ms. Range: more than 0, to 365 days. Default: 5 s.
   */
  readonly answerWithin?: number | undefined;
  /**
   * Redis (`memory:` checks and ignores it): how long a claim lasts without a renewal. In ms. Range: at least 5 ms and
   * three times `margin`, at most 365 days. Default: 30 s.
   */
  readonly lease?: number | undefined;
  /**
   * How long the server keeps a record after it was last written: within this time a repeated operation gets its first
   * result. In ms. Range: more than 0, to 365 days. Default: 24 h.
   */
  readonly retention?: number | undefined;
  /**
   * What a claim gets after the lease of an earlier attempt has ended: the operation, which may then run twice;
   * `in-progress`; or `indeterminate`. Range: `retake`, `block`, `indeterminate`. Default: `retake`.
   */
  readonly onLeaseEnd?: "retake" | "block" | "indeterminate" | undefined;
}

/** The core's names of options and methods that JavaScript writes otherwise. */
export const WRITTEN: ReadonlyMap<string, string> = new Map([
  ["answer_within", "answerWithin"],
  ["max_hold", "maxHold"],
  ["multi_lock", "multiLock"],
  ["node_prefix", "nodePrefix"],
  ["on_lease_end", "onLeaseEnd"],
  ["read_write_lock", "readWriteLock"],
]);
