/**
 * The hub: all machines on one connection, without any I/O. Use it directly if you own your event loop or client library; the
 * driving loop is in `examples/hub-loop.mjs`.
 *
 * Times and durations are numbers of milliseconds (fractions count, down to the microsecond); `now` is the present on a clock of
 * your choice that does not go back and goes on during a suspend.
 *
 * @module
 */

import { type FencepostError, shown, takeKept, unreadable } from "../errors.js";
import { type Address, takeAddress } from "./addresses.js";
import type { Module } from "./families/module.js";
import type { Output } from "./outputs.js";
import { takeOutput } from "./outputs.js";
import { handOver } from "./replies.js";
import { type SettingsData, inOwnWords, read } from "./settings.js";

/** The machines that speak to the same kind of server. */
export type Family = "zookeeper" | "redis";

type RawHub = InstanceType<Module["RawHub"]>;
type RawSettings = InstanceType<Module["Settings"]>;

/** Checked settings: make them once, open as many machines with them as you like. */
export class Settings {
  /** @internal */
  readonly raw: RawSettings;
  /** @internal Where they are. */
  readonly module: Module;
  /** @internal Whether their holds may share a machine. */
  readonly hasOwner: boolean;

  /** @internal Also of settings that a scope has made. @throws ConfigError that says which value makes no sense. */
  constructor(module: Module, data: SettingsData | RawSettings) {
    this.module = module;
    if (data instanceof module.Settings) {
      this.raw = data;
      this.hasOwner = false;
    } else {
      const fields = read(module, data);
      this.raw = made(() => new module.Settings(fields), inOwnWords);
      this.hasOwner = isGiven(data.owner) && !isGiven(data.action);
    }
  }

  /** @internal Gives back the module's memory: settings of one request are not used again. */
  free(): void {
    this.raw.free();
  }
}

/** @internal Reads an address, as every module can. @throws ConfigError that does not repeat passwords. */
export function readAddress(module: () => Module, url: unknown): Address {
  if (typeof url !== "string") {
    throw unreadable(`an address has to be a string, such as "redis://localhost"`);
  }
  if (!module().parseAddress(url)) {
    throw takeKept();
  }
  return takeAddress();
}

/** What a `MemoryServer` is to a hub: its own file is loaded by those who use it. */
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
  /** The transaction that last changed its data. */
  readonly mzxid: bigint;
  /** The session that it goes with; 0n for a node that stays. */
  readonly ephemeralOwner: bigint;
  readonly version: number;
  /** When it was created by the server's clock, in ms since 1970; 0 if that is not known. */
  readonly created: number;
  /** When its data were last changed, likewise. */
  readonly modified: number;
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
  readonly #module: Module;
  readonly #raw: RawHub;

  /** @internal A hub without machines. @throws ConfigError for an unknown family. */
  constructor(module: Module, family: string, seed: number) {
    this.#module = module;
    this.#raw = made(() => new module.RawHub(family, number("seed", seed)));
  }

  /** How many machines there are, those included that have been closed and still wait for the server. */
  get pending(): number {
    return this.#raw.pending();
  }

  /** How many grants have ended since {@link shutdown} without being given back: refused, or the connection was closed. */
  get unreleased(): number {
    return this.#raw.unreleased();
  }

  /** Opens a machine: one contender for one lock. `contender`: 16 bytes from a secure random source, new for every machine. Gives its key. */
  open(now: number, settings: Settings, contender: Uint8Array, seed = 0): number {
    if (!(settings instanceof Settings) || !(contender instanceof Uint8Array)) {
      throw unreadable("open takes a Settings and 16 random bytes");
    }
    if (settings.module !== this.#module) {
      this.#check(this.#raw.foreign());
    }
    const key = this.#raw.open(number("now", now), settings.raw, contender, number("seed", seed));
    this.#check(key !== 0);
    return key;
  }

  /** Acquires the lock: ends in `acquired` or `refused`. Without an acquire timeout (ms) it waits for ever. */
  acquire(now: number, key: number, acquireTimeout?: number): void {
    this.#check(
      this.#raw.acquire(number("now", now), number("key", key), optionalNumber("acquireTimeout", acquireTimeout)),
    );
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
   * Ends a claim: the operation has this result, and the tag says what it is. Ends in `completed`; in `replayed` if another attempt has stored a result; in
   * `refused` while the claim goes on; or in `lost`. After a loss it may still be called: the server stores the result unless another attempt has claimed
   * the operation.
   */
  complete(now: number, key: number, tag: string, result: Uint8Array): void {
    checkBytes("result", result);
    this.#check(this.#raw.complete(number("now", now), number("key", key), text(tag), result));
  }

  /** Ends a claim whose outcome is not known: ends as {@link release} does. */
  leave(now: number, key: number): void {
    this.#check(this.#raw.leave(number("now", now), number("key", key)));
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
        stat.mzxid,
        stat.ephemeralOwner,
        stat.version,
        BigInt(stat.created),
        BigInt(stat.modified),
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
    const [present, command] = [number("now", now), number("id", id)];
    if (this.#scriptReply(present, command, value)) {
      return;
    }
    this.#check(
      handOver(this.#raw, value)
        ? this.#raw.reply(present, command)
        : this.#raw.wrong(present, command, "a Redis value"),
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

  /** What the scripts of locks answer, at once: a number, alone or with bytes. Whether it was that. */
  #scriptReply(now: number, id: number, value: RedisValue): boolean {
    if (!Array.isArray(value) || value.length === 0 || value.length > 2) {
      return false;
    }
    const [first, second] = value;
    if (typeof first !== "number" || !Number.isSafeInteger(first)) {
      return false;
    }
    if (value.length === 1) {
      this.#check(this.#raw.replyNumber(now, id, first));
    } else if (second instanceof Uint8Array) {
      this.#check(this.#raw.replyPair(now, id, first, second));
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

/** @internal Constructors of the module throw nothing, and mean the error that was kept. */
export function made<T>(make: () => T, said = (error: FencepostError) => error): T {
  try {
    return make();
  } catch (error) {
    if (error === undefined || error === null) {
      throw said(takeKept());
    }
    throw error;
  }
}

/** @internal What was typed as a text may be anything in a program without types: the core says what is wrong with it. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : shown(value);
}

/** @internal An argument that has to be a number: the module would take whatever converts to one, and throw a TypeError of its own at the rest. */
export function number(what: string, value: unknown): number {
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

/** @internal An argument that has to be bytes. */
export function checkBytes(what: string, value: unknown): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) {
    throw unreadable(`${what} is ${shown(value)}: it has to be a Uint8Array`);
  }
}

/** @internal */
export function optionalNumber(what: string, value: unknown): number | undefined {
  return isGiven(value) ? number(what, value) : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isSession(session: unknown): session is bigint {
  return typeof session === "bigint";
}

function isStat(stat: unknown): stat is Stat {
  const { czxid, mzxid, ephemeralOwner, version, created, modified } = (stat ?? {}) as Partial<Stat>;
  const longs = [czxid, mzxid, ephemeralOwner].every((long) => typeof long === "bigint");
  return longs && [version, created, modified].every(Number.isInteger);
}
