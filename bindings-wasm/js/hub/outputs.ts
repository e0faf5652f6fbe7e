/**
 * What a hub gives out, and the constructors with which the WebAssembly module makes it.
 *
 * @module
 */

import { type Argument, takeGathered } from "./arguments.js";
import { type RecordData, takeRecord } from "./records.js";

/** Which connection has to carry a command: any, one kept for its machine, or the n-th server of a quorum. */
export type Target = "any" | "own" | `server-${number}`;

interface Named {
  readonly type: "command";
  /** Whose it is; 0: of what all machines share. */
  readonly key: number;
  /** Names the command in its outcome and in notices. */
  readonly id: number;
  /** Which connection has to carry it. */
  readonly target: Target;
  /** When the machine stops caring, in ms on your clock: advice. */
  readonly deadline: number | null;
}

/** Something to do with a ZooKeeper client; see docs/reference/drivers.md. */
export interface NodeCommand extends Named {
  /** What to do. */
  readonly operation: "create" | "children" | "get" | "delete" | "sync" | "set" | "multi" | "reconnect";
  /** The node; empty for a multi. */
  readonly path: string;
  /** A node's new data. */
  readonly data: Uint8Array;
  /** Create: 0 persistent, 1 ephemeral and sequential, 2 container, 8 ephemeral. Get and children: 4 with a watch. */
  readonly flags: number;
  /** The writes of a multi: all of them or none. */
  readonly parts: readonly Part[];
}

/** One write of a multi. */
export interface Part {
  /** What to do. */
  readonly operation: "create" | "set" | "delete" | "check";
  /** The node. */
  readonly path: string;
  /** A node's new data. */
  readonly data: Uint8Array;
  /** As a create's. */
  readonly flags: number;
  /** Set, delete, check: the version that the node must have; -1: any. */
  readonly version: number;
}

/** Something to do with a Redis client; see docs/reference/drivers.md. */
export interface RedisCommand extends Named {
  /** What to do. */
  readonly operation: "call" | "subscribe" | "unsubscribe";
  /** The command with its arguments, or the channel. */
  readonly arguments: readonly Argument[];
}

/** Something to do. */
export type Command = NodeCommand | RedisCommand;

/** The right to hold a lock. */
export interface GrantData {
  /** Which attempt it was given to. */
  readonly attempt: string;
  /** Its number, where the server can give one. */
  readonly fence: bigint | null;
  /** A claim: how often the operation had been taken over before. It may have run that often. Otherwise 0. */
  readonly takeovers: number;
  /** When it stops being valid unless it is renewed, in ms on your clock; null: there is no lease. */
  readonly validUntil: number | null;
}

/** A contender, as an inspection has found it. */
export interface ContenderData {
  /** Its node's path. */
  readonly node: string;
  /** Whether it holds, at the moment of the list. */
  readonly holds: boolean;
  /** Whether it shares the lock with others of its kind: a reader. */
  readonly shared: boolean;
  /** The session that its node goes with. */
  readonly session: bigint;
  /** Since when it contends, by the server's clock, in ms since 1970. */
  readonly since: number;
  /** The fence that it has, or would have. */
  readonly fence: bigint;
  /** What its node says: a host's name, for example. */
  readonly identifier: string;
}

/** Why an acquire has come to nothing or a grant has ended. */
export interface Reason {
  /** Its number, the same in every language. */
  readonly code: number;
  /** The kebab-case name, such as `not-available`. */
  readonly kind: string;
  /** The same in words. */
  readonly message: string;
}

/** What brought it to light. */
export interface Cause {
  /** The command whose outcome or watch it was. */
  readonly command: number | null;
  /** What the server said, for people. */
  readonly detail: string | null;
  /** For how many ms the lease of who has the lock or the claim still runs, if the server has said it. */
  readonly retryAfter: number | null;
  /** The present value, if an update expects another version. */
  readonly record: RecordData | null;
}

/** What the application is told. `key` says of which machine. */
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
      /** A result or a value is stored; or had been stored before. */
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
      /** The name of the stranger's node. */
      readonly node: string;
    }
  | {
      readonly type: "event";
      readonly key: number;
      readonly event: "lost" | "refused";
      readonly reason: Reason;
      readonly cause: Cause;
    };

/** Nothing is left to do before an input arrives or a time is reached. */
export interface Wait {
  readonly type: "wait";
  /** When to call `handleTimeout` at the latest, in ms on your clock; null: only an input can change anything. */
  readonly until: number | null;
  /** What the time is for: `acquire-timeout`, `retry`, `poll`, `renew`, `validity`, `max-hold` or `linger`. */
  readonly reason: string | null;
}

/** What {@link Hub.poll} gives. */
export type Output = Command | Event | Wait;

// The numbers are those of `Operation` in the core, which are the same for ever.
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

// An array of one's own for every command would be one that hardly anybody looks at.
const NO_PARTS: readonly Part[] = Object.freeze([]);

// The module makes an output and leaves it here for whoever has polled: see src/output.rs for why nothing is returned.
let made: Output = { type: "wait", until: null, reason: null };

/** @internal What the module has made last. */
export function takeOutput(): Output {
  return made;
}

function target(number: number): Target {
  return number === -1 ? "any" : number === -2 ? "own" : `server-${number}`;
}

/** @internal The number of an operation of ZooKeeper. */
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
    // What arrives is a view of the module's memory.
    data: data.slice(),
    flags,
    parts,
  };
  parts = NO_PARTS;
}

let parts = NO_PARTS;

/** @internal One write of the next command, which is a multi. */
export function part(operation: number, path: string, data: Uint8Array, flags: number, version: number): void {
  const name = PART_OPERATIONS[operation as keyof typeof PART_OPERATIONS];
  parts = [...parts, { operation: name, path, data: data.slice(), flags, version }];
}

/** @internal `known`: the arguments, kept for the next command of the kind; undefined: they have been gathered. */
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

/** @internal Which attempt the next grant is given to: for those who want to know. */
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
  session: bigint,
  since: number,
  fence: bigint,
  identifier: string,
): void {
  contenders.push({ node, holds, shared, session, since, fence, identifier });
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
