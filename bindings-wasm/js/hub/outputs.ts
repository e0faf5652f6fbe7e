/**
 * The outputs of a hub, and the functions with which the WebAssembly module makes them.
 *
 * @module
 */

import { type Argument, takeGathered } from "./arguments.js";
import { type RecordData, takeRecord } from "./records.js";

/** Which connection sends a command: any, one that is reserved for its machine, or the n-th server of a quorum. */
export type Target = "any" | "own" | `server-${number}`;

interface Named {
  readonly type: "command";
  /** The machine whose command it is; 0 for a command of the hub itself. */
  readonly key: number;
  /** Identifies the command in its outcome and in notices. */
  readonly id: number;
  /** Which connection sends it. */
  readonly target: Target;
  /**
   * When the machine stops waiting for the outcome, in ms on your clock. After that time, the driver need not send the
   * command.
   */
  readonly deadline: number | null;
}

/** A command for a ZooKeeper client; see docs/reference/drivers.md. */
export interface NodeCommand extends Named {
  /** What the driver does. */
  readonly operation: "create" | "children" | "get" | "delete" | "sync" | "set" | "multi" | "reconnect";
  /** The node; empty for a multi. */
  readonly path: string;
  /** The data to write. */
  readonly data: Uint8Array;
  /** Create: 0 persistent, 1 ephemeral and sequential, 2 container, 8 ephemeral. Get and children: 4 with a watch. */
  readonly flags: number;
  /** The parts of a multi. The server carries out all of them or none. */
  readonly parts: readonly Part[];
}

/** One part of a multi. */
export interface Part {
  /** What the server does. */
  readonly operation: "create" | "set" | "delete" | "check";
  /** The node. */
  readonly path: string;
  /** The data to write. */
  readonly data: Uint8Array;
  /** As for a create. */
  readonly flags: number;
  /** Set, delete, check: the version that the node must have; -1: any. */
  readonly version: number;
}

/** A command for a Redis client; see docs/reference/drivers.md. */
export interface RedisCommand extends Named {
  /** What the driver does. */
  readonly operation: "call" | "subscribe" | "unsubscribe";
  /** The command with its arguments, or the channel. */
  readonly arguments: readonly Argument[];
}

/** A command for the driver. */
export type Command = NodeCommand | RedisCommand;

/** The right to hold a lock. */
export interface GrantData {
  /** The attempt that got the grant. */
  readonly attempt: string;
  /** The fence, if the server provides one. */
  readonly fence: bigint | null;
  /** A claim: how many takeovers the operation had before. It may have run that many times. Otherwise 0. */
  readonly takeovers: number;
  /** When the grant stops being valid without a renewal, in ms on your clock; null: there is no lease. */
  readonly validUntil: number | null;
}

/** A contender that an inspection found. Redis stores no waiters, so there it is the holder. */
export interface ContenderData {
  /** Its name on the server. ZooKeeper: the path of its node. Redis: the value of the lock's key. */
  readonly node: string;
  /** Whether it held the lock when the server listed the directory. */
  readonly holds: boolean;
  /** Whether it is a reader, which shares the lock with other readers. */
  readonly shared: boolean;
  /** ZooKeeper: the session that owns the node; otherwise null. */
  readonly session: bigint | null;
  /** ZooKeeper: since when it has been in the lock's directory, by the server's clock, in ms since 1970. */
  readonly since: number | null;
  /** Redis: the remaining lease in ms, without a renewal; null if the lease has no end. */
  readonly expiresIn: number | null;
  /** The fence of its grant, or the fence that it would get. Redis: 0 for a holder of another library. */
  readonly fence: bigint;
  /** ZooKeeper: the text in its node, a host name, for example. */
  readonly identifier: string;
}

/** Why an acquire failed or a grant ended. */
export interface Reason {
  /** Its number, the same in every language. */
  readonly code: number;
  /** The kebab-case name, such as `not-available`. */
  readonly kind: string;
  /** The text for people. */
  readonly message: string;
}

/** What caused a refusal or a loss. */
export interface Cause {
  /** The command whose outcome or watch was the cause, if one was. */
  readonly command: number | null;
  /** The server's message, or the value that is wrong; for people to read. */
  readonly detail: string | null;
  /** The remaining lease of the present holder in ms; null if the server did not report it. */
  readonly retryAfter: number | null;
  /** The present value, if an update expects another version. */
  readonly record: RecordData | null;
}

/** An event for the application. `key` is the key of the machine. */
export type Event =
  | { readonly type: "event"; readonly key: number; readonly event: "queued"; readonly ahead: number | null }
  | { readonly type: "event"; readonly key: number; readonly event: "acquired"; readonly grant: GrantData }
  | {
      readonly type: "event";
      readonly key: number;
      readonly event: "extended" | "resumed";
      readonly validUntil: number | null;
    }
  | {
      readonly type: "event";
      readonly key: number;
      readonly event: "suspended" | "revoke-requested" | "downgraded" | "released";
    }
  | {
      readonly type: "event";
      readonly key: number;
      /** A result or a value is stored; or it was stored before. */
      readonly event: "completed" | "replayed";
      readonly record: RecordData;
    }
  | { readonly type: "event"; readonly key: number; readonly event: "looked"; readonly record: RecordData | null }
  | { readonly type: "event"; readonly key: number; readonly event: "swept"; readonly deleted: number }
  | {
      readonly type: "event";
      readonly key: number;
      readonly event: "found";
      /** In no particular order. */
      readonly contenders: readonly ContenderData[];
    }
  | {
      readonly type: "event";
      readonly key: number;
      readonly event: "mixed-layouts";
      /** The name of the foreign contender's node. */
      readonly node: string;
    }
  | {
      readonly type: "event";
      readonly key: number;
      readonly event: "lost" | "refused";
      readonly reason: Reason;
      readonly cause: Cause;
    };

/** No output is left. Wait until the next input, or until a time. */
export interface Wait {
  readonly type: "wait";
  /** When to call `handleTimeout` at the latest, in ms on your clock; null: only an input can change anything. */
  readonly until: number | null;
  /** The purpose of the time: `acquire-timeout`, `retry`, `poll`, `renew`, `validity`, `max-hold` or `linger`. */
  readonly reason: string | null;
}

/** What {@link Hub.poll} returns. */
export type Output = Command | Event | Wait;

// The numbers are those of `Operation` in the core, which never change.
const NODE_OPERATIONS = {
  1: "create",
  2: "children",
  3: "get",
  4: "delete",
  5: "sync",
  9: "set",
  10: "multi",
  12: "reconnect",
} as const;
const PART_OPERATIONS = { 1: "create", 4: "delete", 9: "set", 11: "check" } as const;
const OPERATION_NUMBERS = Object.fromEntries(
  Object.entries({ ...NODE_OPERATIONS, ...PART_OPERATIONS }).map(([number, name]) => [name, Number(number)]),
) as Record<(NodeCommand | Part)["operation"], number>;
const REDIS_OPERATIONS = { 6: "call", 7: "subscribe", 8: "unsubscribe" } as const;

// The numbers of src/output.rs, and those of `Timer` in the core.
const PLAIN = ["suspended", "revoke-requested", "downgraded", "released"] as const;
const RECORDED = ["completed", "replayed", "looked"] as const;
const REASONS = ["acquire-timeout", "retry", "poll", "renew", "validity", "max-hold", "linger"];

// All commands that have no parts share this array.
const NO_PARTS: readonly Part[] = Object.freeze([]);

// The module stores an output here, and the caller of `poll` takes it: src/output.rs explains why nothing is returned.
let made: Output = { type: "wait", until: null, reason: null };

/** @internal The output that the module has made last. */
export function takeOutput(): Output {
  return made;
}

function target(number: number): Target {
  return number === -1 ? "any" : number === -2 ? "own" : `server-${number}`;
}

/** @internal The number of an operation on ZooKeeper. */
export function operationNumber(operation: (NodeCommand | Part)["operation"]): number {
  return OPERATION_NUMBERS[operation];
}

function optional(number: number): number | null {
  return Number.isNaN(number) ? null : number;
}

/** @internal */
export function nodeCommand(
  key: number,
  id: number,
  to: number,
  deadline: number,
  operation: number,
  path: string,
  data: Uint8Array,
  flags: number,
): void {
  made = {
    type: "command",
    key,
    id,
    target: target(to),
    deadline: optional(deadline),
    operation: NODE_OPERATIONS[operation as keyof typeof NODE_OPERATIONS],
    path,
    // `data` is a view of the module's memory.
    data: data.slice(),
    flags,
    parts,
  };
  parts = NO_PARTS;
}

let parts = NO_PARTS;

/** @internal One part of the next command, which is a multi. */
export function part(operation: number, path: string, data: Uint8Array, flags: number, version: number): void {
  const name = PART_OPERATIONS[operation as keyof typeof PART_OPERATIONS];
  parts = [...parts, { operation: name, path, data: data.slice(), flags, version }];
}

/**
 * @internal `known` has the arguments, which the module reuses for the next command of this kind. If it is undefined,
 * {@link argument} has gathered them.
 */
export function argumentsCommand(
  key: number,
  id: number,
  to: number,
  deadline: number,
  operation: number,
  known: readonly string[] | undefined,
): void {
  made = {
    type: "command",
    key,
    id,
    target: target(to),
    deadline: optional(deadline),
    operation: REDIS_OPERATIONS[operation as keyof typeof REDIS_OPERATIONS],
    arguments: known?.slice() ?? takeGathered(),
  };
}

/** @internal */
export function queued(key: number, ahead: number): void {
  made = { type: "event", key, event: "queued", ahead: optional(ahead) };
}

let attempt = "";

/** @internal The attempt that gets the next grant, if the caller uses it. */
export function attempted(name: string): void {
  attempt = name;
}

/** @internal */
export function acquired(key: number, fence: bigint | undefined, takeovers: number, validUntil: number): void {
  const grant = { attempt, fence: fence ?? null, takeovers, validUntil: optional(validUntil) };
  made = { type: "event", key, event: "acquired", grant };
  attempt = "";
}

/** @internal */
export function valid(key: number, event: number, validUntil: number): void {
  made = { type: "event", key, event: event === 0 ? "extended" : "resumed", validUntil: optional(validUntil) };
}

/** @internal */
export function plain(key: number, event: number): void {
  made = { type: "event", key, event: PLAIN[event] ?? "released" };
}

/** @internal */
export function recorded(key: number, event: number): void {
  made = { type: "event", key, event: RECORDED[event] ?? "looked", record: takeRecord() } as Event;
}

/** @internal */
export function swept(key: number, deleted: number): void {
  made = { type: "event", key, event: "swept", deleted };
}

/** @internal */
export function mixedLayouts(key: number, node: string): void {
  made = { type: "event", key, event: "mixed-layouts", node };
}

let contenders: ContenderData[] = [];

/** @internal One contender of the next event, which is `found`. */
export function contender(
  node: string,
  holds: boolean,
  shared: boolean,
  session: bigint | undefined,
  since: number | undefined,
  expiresIn: number | undefined,
  fence: bigint,
  identifier: string,
): void {
  const [of, at, left] = [session ?? null, since ?? null, expiresIn ?? null];
  contenders.push({ node, holds, shared, session: of, since: at, expiresIn: left, fence, identifier });
}

/** @internal */
export function found(key: number): void {
  made = { type: "event", key, event: "found", contenders };
  contenders = [];
}

/** @internal */
export function ended(
  key: number,
  event: "lost" | "refused",
  code: number,
  kind: string,
  message: string,
  command: number,
  detail: string | undefined,
  retryAfter: number,
): void {
  const cause = {
    command: optional(command),
    detail: detail ?? null,
    retryAfter: optional(retryAfter),
    record: takeRecord(),
  };
  made = { type: "event", key, event, reason: { code, kind, message }, cause };
}

/** @internal */
export function wait(until: number, reason: number): void {
  made = { type: "wait", until: optional(until), reason: REASONS[reason] ?? null };
}
