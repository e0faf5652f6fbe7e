/**
 * The hub: all machines on one connection, without any I/O. Use it directly if you own your event loop or client library; the
 * driving loop is in `examples/hub-loop.mjs`.
 *
 * Times and durations are numbers of milliseconds (fractions count, down to the microsecond); `now` is the present on a clock of
 * your choice that does not go back and goes on during a suspend.
 *
 * @module
 */

import { shown, takeKept, unreadable } from "./errors.js";
import type { MemoryServer } from "./memory/server.js";
import { type Address, type Output, takeAddress, takeOutput } from "./outputs.js";
import { type SettingsData, read } from "./settings.js";
import * as wasm from "./wasm.js";

/** The machines that speak to the same kind of server. */
export type Family = "zookeeper" | "redis";

/** Checked settings: make them once, open as many machines with them as you like. */
export class Settings {
  /** @internal */
  readonly raw: wasm.RawSettings;

  /** @throws ConfigError that says which value makes no sense. */
  constructor(data: SettingsData) {
    const fields = read(data);
    this.raw = made(() => new wasm.RawSettings(fields));
  }
}

/** Reads an address such as `zk://localhost:2181/shop`. @throws ConfigError that does not repeat passwords. */
export function parseAddress(url: string): Address {
  if (typeof url !== "string") {
    throw unreadable(`an address has to be a string, such as "redis://localhost"`);
  }
  if (!wasm.parseAddress(url)) {
    throw takeKept();
  }
  return takeAddress();
}

/**
 * Whether an error of a Redis server, from its code on, says that the server is a replica.
 *
 * On such an answer a driver drops this connection and resolves the server's address again, if the driver made the connection; on
 * the caller's own connection it does nothing. The hub gets the answer in any case.
 */
export function isFromReplica(error: string): boolean {
  return wasm.isFromReplica(error);
}

/** What a {@link MemoryServer} is to a hub: its own file is loaded by those who use it. */
export abstract class Inside {
  /** @internal A hub with a session of its own. */
  abstract connect(now: number, seed: number): Hub;
}

/** What a Redis client library gives: an error reply is an `Error` whose message starts with its code. */
export type RedisValue = null | undefined | number | bigint | boolean | string | Uint8Array | Error | RedisValue[];

/** No answer: certainly not executed; perhaps executed; not executed and nothing ever will be. */
export type Failure = "not-sent" | "unknown" | "closed";

/** What a ZooKeeper client says of its session; `connecting`: a new one is about to be asked for. */
export type SessionState = "connecting" | "connected" | "suspended" | "expired" | "auth-failed" | "closed";

/** What is known of a ZooKeeper node. */
export interface Stat {
  /** The transaction that created it. */
  readonly czxid: bigint;
  /** The session that it goes with; 0n for a node that stays. */
  readonly ephemeralOwner: bigint;
  readonly version: number;
  /** When it was created by the server's clock, in ms since 1970; 0 if that is not known. */
  readonly created: number;
}

/**
 * All machines on one connection. After every input, {@link poll} until it gives a `wait`.
 *
 * Every method throws MisuseError when the call makes no sense now (then nothing has changed), and ConfigError for a time, duration, key or
 * id that is no number.
 */
export class Hub {
  /** The hub's number on its memory server; 0 for any other hub. */
  readonly id: number = 0;
  readonly #raw: wasm.RawHub;

  /** A hub without machines. The seed spreads retries and decides nothing. @throws ConfigError for an unknown family. */
  constructor(family: Family, seed = 0) {
    this.#raw = made(() => new wasm.RawHub(text(family), number("seed", seed)));
  }

  /** A hub that carries out its own commands on a server inside the process: it never gives a command. */
  static memory(server: MemoryServer, now: number, seed = 0): Hub {
    if (!(server instanceof Inside)) {
      throw unreadable("memory takes a MemoryServer");
    }
    return server.connect(now, seed);
  }

  /** How many machines there are, those included that have been closed and still wait for the server. */
  get pending(): number {
    return this.#raw.pending();
  }

  /** Opens a machine: one contender for one lock. `owner`: 16 bytes from a secure random source, new for every machine. Gives its key. */
  open(now: number, settings: Settings, owner: Uint8Array, seed = 0): number {
    if (!(settings instanceof Settings) || !(owner instanceof Uint8Array)) {
      throw unreadable("open takes a Settings and 16 random bytes");
    }
    const key = this.#raw.open(number("now", now), settings.raw, owner, number("seed", seed));
    this.#check(key !== 0);
    return key;
  }

  /** Wants the lock: ends in `acquired` or `refused`. Without patience (ms): for ever. */
  acquire(now: number, key: number, patience?: number): void {
    this.#check(this.#raw.acquire(number("now", now), number("key", key), optionalNumber("patience", patience)));
  }

  /** Wants the lock at once or not at all. */
  tryAcquire(now: number, key: number): void {
    this.#check(this.#raw.tryAcquire(number("now", now), number("key", key)));
  }

  /** Makes the grant last from now on: ends in `extended` or `lost`. */
  extend(now: number, key: number): void {
    this.#check(this.#raw.extend(number("now", now), number("key", key)));
  }

  /** Gives the grant back: ends in `released`, or in `lost` if there was nothing left to give back. */
  release(now: number, key: number): void {
    this.#check(this.#raw.release(number("now", now), number("key", key)));
  }

  /**
   * Turns a writer's grant into a reader's, with nobody in between: ends in `downgraded`, in `refused` while the grant stays as it was, or in `lost`.
   */
  downgrade(now: number, key: number): void {
    this.#check(this.#raw.downgrade(number("now", now), number("key", key)));
  }

  /** Stops an acquire: ends in `refused`. */
  cancel(now: number, key: number): void {
    this.#check(this.#raw.cancel(number("now", now), number("key", key)));
  }

  /** ZooKeeper has created a node; `czxid` is in the reply's header. `session`: the one the request was sent in. */
  created(now: number, id: number, session: bigint, path: string, czxid: bigint): void {
    if (typeof path !== "string" || !isSession(session) || typeof czxid !== "bigint") {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session, a path and a transaction"));
    }
    this.#check(this.#raw.created(number("now", now), number("id", id), session, path, czxid));
  }

  /** ZooKeeper has listed the names of a node's children; or done a multi: the names of the nodes that it has created, in the order of its parts. */
  children(now: number, id: number, session: bigint, names: readonly string[]): void {
    if (!Array.isArray(names) || !names.every((name) => typeof name === "string") || !isSession(session)) {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session and the names of the children"));
    }
    this.#check(this.#raw.children(number("now", now), number("id", id), session, names.join("/")));
  }

  /** ZooKeeper has read a node. */
  data(now: number, id: number, session: bigint, data: Uint8Array, stat: Stat): void {
    if (!(data instanceof Uint8Array) || !isSession(session) || !isStat(stat)) {
      this.#check(
        this.#raw.wrong(number("now", now), number("id", id), "a session, the data and what is known of the node"),
      );
    }
    this.#check(
      this.#raw.data(
        number("now", now),
        number("id", id),
        session,
        data,
        stat.czxid,
        stat.ephemeralOwner,
        stat.version,
        BigInt(stat.created),
      ),
    );
  }

  /** ZooKeeper has done what it was asked. */
  done(now: number, id: number, session: bigint): void {
    if (!isSession(session)) {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session"));
    }
    this.#check(this.#raw.done(number("now", now), number("id", id), session));
  }

  /** ZooKeeper has answered with an error code of its protocol, such as -101. */
  error(now: number, id: number, session: bigint, code: number): void {
    if (!Number.isInteger(code) || !isSession(session)) {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session and an error code"));
    }
    this.#check(this.#raw.error(number("now", now), number("id", id), session, code));
  }

  /** Redis has answered. */
  reply(now: number, id: number, value: RedisValue): void {
    if (this.#scriptReply(now, id, value)) {
      return;
    }
    const text = encode(value, DEEPEST);
    this.#check(
      text === null
        ? this.#raw.wrong(number("now", now), number("id", id), "a Redis value")
        : this.#raw.reply(number("now", now), number("id", id), text),
    );
  }

  /** Nobody has answered. */
  failed(now: number, id: number, failure: Failure): void {
    this.#check(this.#raw.failed(number("now", now), number("id", id), text(failure)));
  }

  /** The state of the ZooKeeper session, before the first command and at every change. `timeout`: the negotiated one, for `connected`. */
  session(now: number, state: SessionState, session: bigint, timeout = 0): void {
    if (!isSession(session)) {
      throw unreadable(`session is ${shown(session)}: it has to be a BigInt`);
    }
    this.#check(this.#raw.session(number("now", now), text(state), session, number("timeout", timeout)));
  }

  /** The watch that command `id` has set in that session has something to say. */
  watch(now: number, id: number, session: bigint, event: "deleted" | "changed" | "gone"): void {
    if (!isSession(session)) {
      throw unreadable(`session is ${shown(session)}: it has to be a BigInt`);
    }
    this.#check(this.#raw.watch(number("now", now), number("id", id), session, text(event)));
  }

  /** A message has arrived on the channel that command `id` has subscribed to. */
  message(now: number, id: number): void {
    this.#check(this.#raw.message(number("now", now), number("id", id)));
  }

  /** The subscription of command `id` is gone, once. */
  gone(now: number, id: number): void {
    this.#check(this.#raw.gone(number("now", now), number("id", id)));
  }

  /** The time has come. Early and repeated calls change nothing. */
  handleTimeout(now: number): void {
    this.#check(this.#raw.handleTimeout(number("now", now)));
  }

  /** The next command or event, of one machine or of all; then how long to wait. */
  poll(only?: number): Output {
    this.#check(this.#raw.poll(optionalNumber("only", only)));
    return takeOutput();
  }

  /** @internal The same of all machines, for whoever has no use for the attempt's name in a grant: it is empty. */
  next(): Output {
    this.#raw.next();
    return takeOutput();
  }

  /** Closes a machine, in any state. It lives on until the server has answered, and says nothing more. */
  close(now: number, key: number): void {
    this.#check(this.#raw.close(number("now", now), number("key", key)));
  }

  /** Closes all machines, and opens no more. Go on driving until {@link pending} is 0. */
  shutdown(now: number): void {
    this.#check(this.#raw.shutdown(number("now", now)));
  }

  /** On a memory server: ends the session, so that nothing is held any more. */
  disconnect(now: number): void {
    present(now);
  }

  /** What our scripts answer, short of writing it down as a text and reading it: a number, alone or with a text. Whether it was that. */
  #scriptReply(now: number, id: number, value: RedisValue): boolean {
    if (!Array.isArray(value) || value.length === 0 || value.length > 2) {
      return false;
    }
    const [first, second] = value;
    if (typeof first !== "number" || !Number.isSafeInteger(first)) {
      return false;
    }
    if (value.length === 1) {
      this.#check(this.#raw.replyNumber(number("now", now), number("id", id), first));
    } else if (typeof second === "string") {
      this.#check(this.#raw.replyPair(number("now", now), number("id", id), first, second));
    } else {
      return false;
    }
    return true;
  }

  #check(done: boolean): void {
    if (!done) {
      throw takeKept();
    }
  }
}

/** Constructors of the module throw nothing, and mean the error that was kept. */
function made<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error === undefined || error === null) {
      throw takeKept();
    }
    throw error;
  }
}

/** Deeper than any reply of a lock's script. */
const DEEPEST = 8;

/** A reply as one text: the fields that `reply.rs` reads, with NULs between them. */
function encode(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) ? `i${value}` : null;
    case "string":
      return value.includes("\0") ? hexadecimal(new TextEncoder().encode(value)) : `s${value}`;
    case "bigint":
      return `i${value}`;
    case "boolean":
      return value ? "i1" : "i0";
    case "undefined":
      return "n";
    case "object":
      break;
    default:
      return null;
  }
  if (value === null) {
    return "n";
  }
  if (Array.isArray(value)) {
    let text = `a${value.length}`;
    for (const item of value) {
      const field = depth === 0 ? null : encode(item, depth - 1);
      if (field === null) {
        return null;
      }
      text += `\0${field}`;
    }
    return text;
  }
  if (value instanceof Uint8Array) {
    return hexadecimal(value);
  }
  return value instanceof Error ? `e${value.message.replaceAll("\0", " ")}` : null;
}

function hexadecimal(bytes: Uint8Array): string {
  return `x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** What was typed as a text may be anything in a program without types: the core says what is wrong with it. */
function text(value: unknown): string {
  return typeof value === "string" ? value : shown(value);
}

/** An argument that has to be a number: the module would take whatever converts to one, and throw a TypeError of its own at the rest. */
function number(what: string, value: unknown): number {
  if (typeof value !== "number") {
    throw unreadable(`${what} is ${shown(value)}: it has to be a number`);
  }
  return value;
}

/** @internal The present time, where the module does not look at it: what it would say. */
export function present(now: unknown): number {
  const millis = number("now", now);
  if (!(millis >= 0 && millis * 1000 < 2 ** 53)) {
    throw unreadable("now has to be a finite number of milliseconds");
  }
  return millis;
}

function optionalNumber(what: string, value: unknown): number | undefined {
  return value === undefined || value === null ? undefined : number(what, value);
}

function isSession(session: unknown): session is bigint {
  return typeof session === "bigint";
}

function isStat(stat: unknown): stat is Stat {
  const { czxid, ephemeralOwner, version, created } = (stat ?? {}) as Partial<Stat>;
  const longs = typeof czxid === "bigint" && typeof ephemeralOwner === "bigint";
  return longs && Number.isInteger(version) && Number.isInteger(created);
}
