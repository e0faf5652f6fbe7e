/**
 * The program's settings. This module checks the types of values, and the core checks the rest.
 *
 * @module
 */

import { ConfigError, type FencepostError, shown, unreadable } from "../errors.js";
import type { Module } from "./families/module.js";
import {
  type ElectionOptions,
  type LockOptions,
  type MultiLockOptions,
  type ReadWriteLockOptions,
  type SemaphoreOptions,
  WRITTEN,
} from "./lock-options.js";

/** The names of the nodes on ZooKeeper. Programs with another library and the same layout exclude each other. */
export type Layout = NonNullable<LockOptions["layout"]>;

/** The options that all locks on ZooKeeper have. */
export type ZooKeeperLockOptions = ElectionOptions;

/** The settings that most machines for ZooKeeper have. Durations in ms. */
export interface ZooKeeperSettings extends ZooKeeperLockOptions {
  /** The lock's path below the prefix. */
  readonly name: string;
  /** The path below which the locks are (the root). */
  readonly prefix?: string | undefined;
}

/**
 * The settings of one lock, or of an inspection. The core knows which options a kind of lock has. Durations in ms.
 *
 * ```ts
 * new Settings({ server: "zookeeper", kind: "lock", name: "stock/42", prefix: "/shop", layout: "kazoo", maxHold: 60_000 });
 * new Settings({ server: "zookeeper", kind: "semaphore", name: "presses", permits: 3 });
 * new Settings({ server: "redis", kind: "lock", name: "stock/42", ttl: 10_000, owner: "request-17" });
 * ```
 */
export interface SettingsData
  extends LockOptions, ReadWriteLockOptions, SemaphoreOptions, ElectionOptions, MultiLockOptions {
  /**
   * The kind of lock: `lock`, `reader`, `writer`, `semaphore`, `election` or `multi-lock`. Without a `server`, the kind of machine: `redis-string`,
   * `zookeeper-mutex`, `zookeeper-single`, `zookeeper-reader` and so on, or `zookeeper-inspection`.
   */
  readonly kind: string;
  /** The kind of server. `memory` accepts the options of both others. */
  readonly server?: "zookeeper" | "redis" | "memory" | undefined;
  /** The lock's name. All kinds need it, except a multi-lock. */
  readonly name?: string | undefined;
  /** A multi-lock: the names of its locks, at most 64. */
  readonly names?: readonly string[] | undefined;
  /** ZooKeeper: the path below which the locks are (the root). */
  readonly prefix?: string | undefined;
  /** A semaphore: how many contenders may hold it at once. All its clients must use the same number. */
  readonly permits?: number | undefined;
  /**
   * Makes the settings those of an inspection. It lists the contenders, deletes the node of one, or sends one a
   * revocation request. It ends in `found` or `refused`.
   */
  readonly action?: "list" | "break" | "revoke" | undefined;
  /** An inspection: the path of the contender's node. */
  readonly node?: string | undefined;
  /** An inspection: the contender's fence. */
  readonly fence?: bigint | undefined;
  /** The machine `zookeeper-inspection`: the kind of lock that it inspects (`mutex`). */
  readonly of?: "mutex" | "read-write" | "election" | "semaphore" | "single" | undefined;
}

/** Writes a value as texts for the module; null if it has another type. */
type Write = (value: unknown) => readonly string[] | null;

/** The core's durations are 64-bit numbers. The core refuses a duration of this length. */
const LONGEST = 2 ** 62;

const text: Write = (value) => (typeof value === "string" ? [value] : null);
const texts: Write = (value) => {
  const list: unknown[] | null = Array.isArray(value) ? value : null;
  return list?.every((one) => typeof one === "string") === true ? [String(list.length), ...list] : null;
};
const flag: Write = (value) => (typeof value === "boolean" ? [String(value)] : null);
const whole: Write = (value) => (Number.isSafeInteger(value) ? [String(value)] : null);
const long: Write = (value) => (typeof value === "bigint" ? [String(value)] : null);
const millis: Write = (value) => {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return null;
  }
  // Rounded away from zero, so that a positive duration stays positive.
  const micros = Math.sign(value) * Math.min(Math.ceil(Math.abs(value) * 1000), LONGEST);
  return [String(BigInt(micros))];
};

const EXPECTED = new Map<Write, string>([
  [text, "a string"],
  [texts, "a list of strings"],
  [flag, "true or false"],
  [whole, "a whole number"],
  [long, "a BigInt"],
  [millis, "a finite number of milliseconds"],
]);

/** By the number that `optionType` returns. */
const BY_TYPE: readonly (Write | undefined)[] = [undefined, millis, whole, flag, text, texts];

/** Settings that are no options, or whose type in JavaScript differs from the core's. */
const OTHERS = new Map<string, Write>([
  ["kind", text],
  ["server", text],
  ["fence", long],
]);

/** The core's names by JavaScript's names. */
const OF_CORE: ReadonlyMap<string, string> = new Map([...WRITTEN].map(([core, own]) => [own, core]));

/**
 * @internal Converts a plain object to the module's format: names and values in turn. The core refuses unknown names.
 *
 * @throws ConfigError for a value of another type.
 */
export function read(module: Module, data: unknown): string[] {
  if (typeof data !== "object" || data === null) {
    throw unreadable(`settings are ${shown(data)}: they have to be an object`);
  }
  const fields: string[] = [];
  for (const [name, value] of Object.entries(data) as [string, unknown][]) {
    const own = WRITTEN.get(name);
    if (own !== undefined) {
      throw new ConfigError(108, "unknown-option", `unknown option "${name}": write ${own}`);
    }
    const core = OF_CORE.get(name) ?? name;
    const write = OTHERS.get(name) ?? BY_TYPE[module.optionType(core)];
    if (write === undefined) {
      fields.push(name, "");
    } else if (value !== undefined && value !== null) {
      fields.push(core, ...checked(name, write, value));
    }
  }
  return fields;
}

/** @internal The core's error about settings, with the names that JavaScript uses. */
export function inOwnWords({ code, kind, message }: FencepostError): ConfigError {
  // A text in quotes is the user's, unless it is the name of an option that the lock does not have.
  const isOption = kind === "unknown-option";
  const own = message.replace(/"([^"]*)"|\w+/g, (word: string, quoted?: string) =>
    quoted === undefined
      ? (WRITTEN.get(word) ?? word)
      : isOption && WRITTEN.has(quoted)
        ? `"${WRITTEN.get(quoted)}"`
        : word,
  );
  return new ConfigError(code, kind, own);
}

/** A lone surrogate has no UTF-8. All of them would become the same replacement character. */
const HALF = /\p{Surrogate}/u;

/** @internal Checks that an argument is a text. @throws ConfigError for anything else, and for a lone surrogate. */
export function checkedText(name: string, value: unknown): string {
  const [one = ""] = checked(name, text, value);
  return one;
}

/** Refuses a text that a server could not distinguish from others. */
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

/** Checks and converts a value. It does not turn a BigInt into a number, or a number into a string. */
function checked(name: string, write: Write, value: unknown): readonly string[] {
  const written = write(value);
  if (written === null) {
    throw unreadable(`${name} is ${shown(value)}: it has to be ${EXPECTED.get(write)}`);
  }
  for (const one of written) {
    refuseHalves(name, one);
  }
  return written;
}
