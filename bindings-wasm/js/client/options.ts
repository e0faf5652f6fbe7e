/**
 * Options as somebody has written them.
 *
 * @module
 */

import { ConfigError, unreadable } from "../errors.js";
import type { Layout } from "../settings.js";
import type { Signal } from "../signal.js";

interface AnyLockOptions {
  /** The longest hold allowed, in ms (no limit). */
  readonly maxHold?: number | undefined;
  /** How long one answer may take before a try counts as unreachable, in ms (5000). */
  readonly answerWithin?: number | undefined;
}

/** What can be set for locks on ZooKeeper, and on `memory:`, which is a model of it. Durations in ms. */
export interface ZooKeeperLockOptions extends AnyLockOptions {
  /**
   * ZooKeeper: how contenders are called on the server: as Apache Curator does it (`"curator"`, the default), as Kazoo does (`"kazoo"`), or with a prefix and
   * a number as home-made locks do (`"plain"`). Programs with one of those libraries and this one exclude each other in its layout.
   */
  readonly layout?: Layout | undefined;
  /** ZooKeeper: with the layout `plain`, what a contender's name begins with (`"node_"`). */
  readonly nodePrefix?: string | undefined;
  /** ZooKeeper: what the contender's node says, for people and peers: a host's name, for example. At most 1024 bytes. */
  readonly identifier?: string | undefined;
  /**
   * ZooKeeper: whether a wish for the lock is heard of from the grant on, which costs a request, and not only a third of the session's timeout
   * later (false). See {@link Grant.revokeRequested}.
   */
  readonly revocable?: boolean | undefined;
}

/** Who holds, as far as this client is concerned: for locks and read/write locks, on every kind of server. */
export interface Owner {
  /**
   * Who acquires, in your own words, such as `"request-17"` (1 to 1024 bytes of UTF-8). While an owner holds a lock, each further acquire of the same name
   * and kind by it on this client gives at once, without a request, a grant of its own with the same fence; the last release gives the lock back. Settings
   * and lease are those of the first acquire. A writer's owner may read; a reader's owner who asks for the writer is told `upgrade`. Without an owner every
   * acquire is a contender of its own.
   */
  readonly owner?: string | undefined;
}

/** What can be set for a read/write lock. */
export interface ReadWriteLockOptions extends ZooKeeperLockOptions, Owner {}

/** What can be set for a lock: on either kind of server, its own and those of both. Durations in ms. */
export interface LockOptions extends ZooKeeperLockOptions, Owner {
  /**
   * ZooKeeper: whether contenders stand in a line (true). If not, the lock is one node: the cheapest lock there is for a try, but whoever comes first at a
   * release gets it, and all who wait wake then. Such a lock has no layout, and cannot be asked for.
   */
  readonly fair?: boolean | undefined;
  /** Redis: the lease (10000). On `memory:` it is checked and has no effect, as the next three: a grant there lives as long as its client. */
  readonly ttl?: number | undefined;
  /** Redis: whether the lease is renewed until the release (true). */
  readonly renew?: boolean | undefined;
  /** Redis: what is taken off the lease's validity beside drift (2). */
  readonly margin?: number | undefined;
  /** Redis: how often a waiter asks, at the latest (100). */
  readonly poll?: number | undefined;
}

const ANY = ["maxHold", "answerWithin"];

/** The options of a lock, by the server. */
const OF_A_LOCK = {
  zookeeper: ["layout", "nodePrefix", "identifier", "revocable", ...ANY],
  redis: ["ttl", "renew", "margin", "poll", ...ANY],
};

/** What some kinds of locks have beside. */
const OF_SOME = ["owner", "fair"];

/** Checks that options are an object with known keys only: a misspelt one would be a silent default. */
export function known(options: unknown, ...names: string[]): void {
  if (options === undefined) {
    return;
  }
  if (typeof options !== "object" || options === null) {
    throw unreadable("options have to be an object");
  }
  for (const option of Object.keys(options)) {
    if (!names.includes(option)) {
      const there = names.length === 0 ? "there are none" : `there are ${names.join(", ")}`;
      throw new ConfigError(108, "unknown-option", `unknown option "${option}": ${there}`);
    }
  }
}

/** The options of a lock that have a value, all of them known to its server, or to its kind alone. */
export function lockOptions(
  family: "zookeeper" | "redis",
  options: unknown,
  ...ofKind: readonly string[]
): Record<string, unknown> {
  known(options, ...OF_A_LOCK.zookeeper, ...OF_A_LOCK.redis, ...OF_SOME);
  const entries: [string, unknown][] = Object.entries(options ?? {});
  const given = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  known(given, ...OF_A_LOCK[family], ...ofKind);
  if (given["owner"] === null) {
    throw unreadable("owner has to be a string"); // It is no default: acquires would be contenders of their own.
  }
  return given;
}

/** A number of ms, or nothing; whether it makes sense is for the core to say. */
export function optionalMillis(what: string, value: unknown): number | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== "number") {
    throw unreadable(`${what} has to be a number of milliseconds`);
  }
  return value;
}

/** A signal, or nothing. */
export function optionalSignal(value: unknown): Signal | undefined {
  if (value !== undefined && !isSignal(value)) {
    throw unreadable("signal has to be an AbortSignal");
  }
  return value;
}

/** By its shape: some test runners have a second class of that name. */
function isSignal(value: unknown): value is Signal {
  const { aborted, addEventListener } = (value ?? {}) as Partial<Record<"aborted" | "addEventListener", unknown>>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}
