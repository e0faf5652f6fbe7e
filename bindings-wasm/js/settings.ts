/**
 * Settings as somebody has written them: their names and types are looked at here, what they mean by the core.
 *
 * @module
 */

import { ConfigError, shown, unreadable } from "./errors.js";

/** The settings of one lock. Durations in ms. */
export type SettingsData =
  | {
      readonly kind: "zookeeper-mutex";
      /** A path below the prefix. */
      readonly name: string;
      /** Where the locks lie; the root if it is empty. */
      readonly prefix?: string | undefined;
      /** How long a try waits for the server's answers (5000). */
      readonly answerWithin?: number | undefined;
      /** The longest hold allowed (no limit). */
      readonly maxHold?: number | undefined;
    }
  | {
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
    };

/** What is read, of all kinds. */
export interface Read {
  kind: string;
  name?: string;
  prefix?: string;
  ttl?: number;
  margin?: number;
  renew?: boolean;
  poll?: number;
  answerWithin?: number;
  maxHold?: number;
}

const TEXTS = ["name", "prefix"];
const FLAGS = ["renew"];

const KINDS = new Map<unknown, readonly string[]>([
  ["zookeeper-mutex", ["name", "prefix", "answerWithin", "maxHold"]],
  ["redis-string", ["name", "ttl", "margin", "renew", "poll", "answerWithin", "maxHold"]],
]);

/** Reads a plain object. @throws ConfigError for an unknown key, which would otherwise be a silent default, and for a value of another type. */
export function read(data: unknown): Read {
  if (typeof data !== "object" || data === null) {
    throw unreadable(`settings are ${shown(data)}: they have to be an object`);
  }
  const given = data as Record<string, unknown>;
  const { kind } = given;
  const names = KINDS.get(kind);
  if (names === undefined) {
    throw unreadable(`kind is ${shown(kind)}: it has to be ${[...KINDS.keys()].join(" or ")}`);
  }
  for (const option of Object.keys(given)) {
    if (option !== "kind" && !names.includes(option)) {
      throw new ConfigError(108, "unknown-option", `unknown option "${option}": there are kind, ${names.join(", ")}`);
    }
  }
  const values = names.map((name) => [name, checked(name, given[name])]);
  return { ...(Object.fromEntries(values) as Omit<Read, "kind">), kind: kind as string };
}

function checked(name: string, value: unknown): unknown {
  if (value === undefined || value === null) {
    return undefined;
  }
  const [type, expected] = TEXTS.includes(name)
    ? ["string", "a string"]
    : FLAGS.includes(name)
      ? ["boolean", "true or false"]
      : ["number", "a finite number of milliseconds"];
  // A BigInt is no number, and a number no string: nothing is converted.
  if (typeof value !== type || (type === "number" && !Number.isFinite(value))) {
    throw unreadable(`${name} is ${shown(value)}: it has to be ${expected}`);
  }
  return value;
}
