/**
 * Settings as somebody has written them: their names and types are looked at here, what they mean by the core.
 *
 * @module
 */

import { ConfigError, shown, unreadable } from "./errors.js";

/** How contenders are called on a ZooKeeper server, and with whom they share their locks. */
export type Layout = "curator" | "kazoo" | "plain";

/** What all machines for ZooKeeper have. Durations in ms. */
export interface ZooKeeperSettings {
  /** A path below the prefix. */
  readonly name: string;
  /** Where the locks lie; the root if it is empty. */
  readonly prefix?: string | undefined;
  /** How contenders are called: as Apache Curator does it (`curator`), as Kazoo does, or as home-made locks do (`plain`). */
  readonly layout?: Layout | undefined;
  /** With the layout `plain`: what a contender's name begins with (`node_`). */
  readonly nodePrefix?: string | undefined;
  /** What the contender's node says, for people and peers: at most 1024 bytes (its attempt). */
  readonly identifier?: string | undefined;
  /** Whether a wish for the lock is heard of from the grant on, and not only when the session is confirmed (false). */
  readonly revocable?: boolean | undefined;
  /** How long a try waits for the server's answers (5000). */
  readonly answerWithin?: number | undefined;
  /** The longest hold allowed (no limit). */
  readonly maxHold?: number | undefined;
}

/** What those locks have whose holder may acquire them again. */
interface Owned {
  /** Who acquires, in 1 to 1024 bytes: what an owner holds, each further acquire by it on the same hub gives at once. */
  readonly owner?: string | undefined;
}

/** The settings of one lock. Durations in ms. */
export type SettingsData =
  | ({
      /** A fair mutex; a share of a read/write lock, or all of it. */
      readonly kind: "zookeeper-mutex" | "zookeeper-reader" | "zookeeper-writer";
    } & Owned &
      ZooKeeperSettings)
  | ({
      /** A candidate in an election. */
      readonly kind: "zookeeper-election";
    } & ZooKeeperSettings)
  | ({
      readonly kind: "zookeeper-semaphore";
      /** How many may hold at once, the same number for all (1). */
      readonly permits?: number | undefined;
    } & ZooKeeperSettings)
  | ({
      /** One node, which is the lock: no line, so whoever comes first at a release gets it. The cheapest lock there is for a try. */
      readonly kind: "zookeeper-single";
    } & Owned &
      Omit<ZooKeeperSettings, "layout" | "nodePrefix" | "revocable">)
  | ({
      readonly kind: "zookeeper-multi-lock";
      /** Paths below the prefix, at most 64. */
      readonly names: readonly string[];
    } & Omit<ZooKeeperSettings, "name">)
  | ({
      /** A look at a lock from outside: it ends in `found` or `refused`. */
      readonly kind: "zookeeper-inspection";
      /** What it looks at (a mutex). */
      readonly of?: "mutex" | "read-write" | "election" | "semaphore" | "single" | undefined;
      /** The permits of a semaphore. */
      readonly permits?: number | undefined;
      /** Whether it lists contenders, deletes one, or asks one for the lock (it lists). */
      readonly action?: "list" | "break" | "revoke" | undefined;
      /** The path of the contender's node that is meant. */
      readonly node?: string | undefined;
      /** Its fence. */
      readonly fence?: bigint | undefined;
    } & Omit<ZooKeeperSettings, "identifier" | "revocable" | "maxHold">)
  | ({
      readonly kind: "redis-string";
      /** The lock's key. */
      readonly name: string;
      /** The lease (10000). */
      readonly ttl?: number | undefined;
      /** What is taken off the lease's validity beside drift (2). */
      readonly margin?: number | undefined;
      /** Whether the lease is renewed until the release (true). */
      readonly renew?: boolean | undefined;
      /** How often a waiter asks, at the latest (100). */
      readonly poll?: number | undefined;
      /** How long an answer may take before the request is sent again (5000). */
      readonly answerWithin?: number | undefined;
      /** The longest hold allowed (no limit). */
      readonly maxHold?: number | undefined;
    } & Owned);

/** Writes a value as the module reads it, a list as several; null if it is no such value. */
type Write = (value: unknown) => string | readonly string[] | null;

/** The core's durations are 64-bit numbers: beyond this it is too long anyway. */
const LONGEST = 2 ** 62;

const text: Write = (value) => (typeof value === "string" ? value : null);
const texts: Write = (value) => {
  const list: unknown[] | null = Array.isArray(value) ? value : null;
  return list?.every((one) => typeof one === "string") === true ? list : null;
};
const flag: Write = (value) => (typeof value === "boolean" ? String(value) : null);
const whole: Write = (value) => (Number.isSafeInteger(value) ? String(value) : null);
const long: Write = (value) => (typeof value === "bigint" ? String(value) : null);
const millis: Write = (value) => {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return null;
  }
  // Away from zero, so that what is positive stays positive.
  const micros = Math.sign(value) * Math.min(Math.ceil(Math.abs(value) * 1000), LONGEST);
  return String(BigInt(micros));
};

const EXPECTED = new Map<Write, string>([
  [text, "a string"],
  [texts, "a list of strings"],
  [flag, "true or false"],
  [whole, "a whole number"],
  [long, "a BigInt"],
  [millis, "a finite number of milliseconds"],
]);

type Fields = Readonly<Record<string, Write>>;

const ANY: Fields = { answerWithin: millis, maxHold: millis };
const PLACE: Fields = { prefix: text, layout: text, nodePrefix: text };
const CONTENDER: Fields = { ...PLACE, identifier: text, revocable: flag, ...ANY };
const ZOOKEEPER: Fields = { name: text, ...CONTENDER };
const INSPECTION: Fields = { of: text, permits: whole, action: text, node: text, fence: long, answerWithin: millis };

/** All kinds with what they have; `src/settings.rs` reads the same names. */
const KINDS = new Map<unknown, Fields>([
  ["zookeeper-mutex", { ...ZOOKEEPER, owner: text }],
  ["zookeeper-reader", { ...ZOOKEEPER, owner: text }],
  ["zookeeper-writer", { ...ZOOKEEPER, owner: text }],
  ["zookeeper-election", ZOOKEEPER],
  ["zookeeper-semaphore", { ...ZOOKEEPER, permits: whole }],
  ["zookeeper-single", { name: text, prefix: text, identifier: text, owner: text, ...ANY }],
  ["zookeeper-multi-lock", { names: texts, ...CONTENDER }],
  ["zookeeper-inspection", { name: text, ...PLACE, ...INSPECTION }],
  ["redis-string", { name: text, ttl: millis, margin: millis, renew: flag, poll: millis, owner: text, ...ANY }],
]);

/**
 * Reads a plain object into what the module takes: names and values by turns.
 *
 * @throws ConfigError for an unknown key, which would otherwise be a silent default, and for a value of another type.
 */
export function read(data: unknown): string[] {
  if (typeof data !== "object" || data === null) {
    throw unreadable(`settings are ${shown(data)}: they have to be an object`);
  }
  const given = data as Record<string, unknown>;
  const { kind } = given;
  const fields = KINDS.get(kind);
  if (fields === undefined) {
    throw unreadable(`kind is ${shown(kind)}: it has to be ${[...KINDS.keys()].join(" or ")}`);
  }
  for (const option of Object.keys(given)) {
    if (option !== "kind" && !Object.hasOwn(fields, option)) {
      const known = Object.keys(fields).join(", ");
      throw new ConfigError(108, "unknown-option", `unknown option "${option}": there are kind, ${known}`);
    }
  }
  const written = Object.entries(fields).flatMap(([name, write]) => {
    const value = given[name];
    const written = value === undefined || value === null ? [] : [checked(name, write, value)].flat();
    return written.flatMap((one) => [name, one]);
  });
  return ["kind", kind as string, ...written];
}

/** Half a character: it has no UTF-8, and would be written as the same mark as all others. */
const HALF = /\p{Surrogate}/u;

/** Refuses a text that servers could not tell from others. */
function refuseHalves(name: string, one: string): void {
  if (HALF.test(one)) {
    const [code, kind] = name.startsWith("name") ? [102, "invalid-name"] : [110, "invalid-option"];
    throw new ConfigError(
      code,
      kind,
      `${name} is ${shown(one)}, which holds half a character (a lone surrogate): remove it`,
    );
  }
}

/** A BigInt is no number, and a number no string: nothing is converted. */
function checked(name: string, write: Write, value: unknown): string | readonly string[] {
  const written = write(value);
  if (written === null) {
    throw unreadable(`${name} is ${shown(value)}: it has to be ${EXPECTED.get(write)}`);
  }
  for (const one of [written].flat()) {
    refuseHalves(name, one);
  }
  return written;
}
