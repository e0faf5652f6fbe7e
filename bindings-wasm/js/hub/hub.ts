/**
 * The hub: all machines on one connection, without I/O. Use it if your program has its own event loop or client
 * library; `examples/hub-loop.mjs` has the loop. Times and durations are numbers of milliseconds, with fractions. `now`
 * is the time of a clock that you choose: it must not go back, and must go on while the computer is suspended.
 *
 * @module
 */

import { type FencepostError, shown, takeKept, unreadable } from "../errors.js";
import { isBytes } from "../realms.js";
import { type Address, takeAddress } from "./addresses.js";
import { checkBytes, isGiven, isSession, number, optionalNumber, present, text } from "./checks.js";
import type { Module } from "./families/module.js";
import type { Output } from "./outputs.js";
import { takeOutput } from "./outputs.js";
import { handOver } from "./replies.js";
import { type SettingsData, inOwnWords, read } from "./settings.js";

/** The kind of server: all machines of a family speak to it with the same commands. */
export type Family = "zookeeper" | "redis";

type RawHub = InstanceType<Module["RawHub"]>;
type RawSettings = InstanceType<Module["Settings"]>;

/** Checked settings. Make them once, and open any number of machines with them. */
export class Settings {
  /** @internal */
  readonly raw: RawSettings;
  /** @internal The module that read them. */
  readonly module: Module;
  /** @internal Whether the lock has an owner, so that several holds may share a machine. */
  readonly hasOwner: boolean;

  /** @internal `data` may be settings that a scope made. @throws ConfigError that names the value that is not valid. */
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

  /** @internal Frees the memory of settings that serve only one request. */
  free(): void {
    this.raw.free();
  }
}

/** @internal Parses an address; every module can. @throws ConfigError that does not repeat passwords. */
export function readAddress(module: () => Module, url: unknown): Address {
  if (typeof url !== "string") {
    throw unreadable(`an address has to be a string, such as "redis://localhost"`);
  }
  if (!module().parseAddress(url)) {
    throw takeKept();
  }
  return takeAddress();
}

/** The part of a `MemoryServer` that a hub needs. Only programs that use the server load its file. */
export abstract class Inside {
  /** @internal Makes a hub with its own session. */
  abstract connect(now: number, seed: number, sessionTimeout?: number): Hub;
}

/** A value of a Redis client library. An error reply is an `Error` whose message begins with its code. */
export type RedisValue = null | undefined | number | bigint | boolean | string | Uint8Array | Error | RedisValue[];

/**
 * Why a command has no reply: it was not executed; it may have been executed; it was not executed, and no later command
 * will be.
 */
export type Failure = "not-sent" | "unknown" | "closed";

/** The state of a ZooKeeper session. `connecting`: the client is about to connect for a new session. */
export type SessionState = "connecting" | "connected" | "suspended" | "expired" | "auth-failed" | "closed";

/** The stat of a ZooKeeper node. */
export interface Stat {
  /** The transaction that created it. */
  readonly czxid: bigint;
  /** The transaction that last changed its data. */
  readonly mzxid: bigint;
  /** The session that owns the node; 0n for a persistent node. */
  readonly ephemeralOwner: bigint;
  readonly version: number;
  /** When it was created, by the server's clock, in ms since 1970; 0 if that is not known. */
  readonly created: number;
  /** When its data last changed, by the same clock; 0 if that is not known. */
  readonly modified: number;
}

/**
 * All machines on one connection. After every input, {@link poll} until it returns a `wait`. A method throws
 * MisuseError if the present state does not allow the call, and ConfigError for a value that is not a number; nothing
 * has changed then.
 */
export class Hub {
  /** The number of a hub on its memory server; 0 for any other hub. */
  readonly id: number = 0;
  readonly #module: Module;
  readonly #raw: RawHub;

  /** @internal Makes a hub without machines. @throws ConfigError for an unknown family. */
  constructor(module: Module, family: string, seed: number) {
    this.#module = module;
    this.#raw = made(() => new module.RawHub(family, number("seed", seed)));
  }

  /** The number of machines, including the closed machines that still wait for the server. */
  get pending(): number {
    return this.#raw.pending();
  }

  /** The number of grants that have ended since {@link shutdown} without a release. */
  get unreleased(): number {
    return this.#raw.unreleased();
  }

  /**
   * Opens a machine: one contender for one lock. Returns its key. `contender` is the contender's id: 16 bytes from a
   * secure random source, new for every machine.
   */
  open(now: number, settings: Settings, contender: Uint8Array, seed = 0): number {
    if (!(settings instanceof Settings) || !isBytes(contender)) {
      throw unreadable("open accepts a Settings and 16 random bytes");
    }
    if (settings.module !== this.#module) {
      this.#check(this.#raw.foreign());
    }
    const key = this.#raw.open(number("now", now), settings.raw, contender, number("seed", seed));
    this.#check(key !== 0);
    return key;
  }

  /** Acquires, for at most `acquireTimeout` ms. It ends in `acquired`, `refused` or, for a claim, `replayed`. */
  acquire(now: number, key: number, acquireTimeout?: number): void {
    this.#check(
      this.#raw.acquire(number("now", now), number("key", key), optionalNumber("acquireTimeout", acquireTimeout)),
    );
  }

  /** Acquires without waiting for other contenders. It ends as {@link acquire} does. */
  tryAcquire(now: number, key: number): void {
    this.#check(this.#raw.tryAcquire(number("now", now), number("key", key)));
  }

  /** Extends the grant by a full lease from now. It ends in `extended` or `lost`. */
  extend(now: number, key: number): void {
    this.#check(this.#raw.extend(number("now", now), number("key", key)));
  }

  /** Releases the grant. It ends in `released`, `refused` or `lost`. */
  release(now: number, key: number): void {
    this.#check(this.#raw.release(number("now", now), number("key", key)));
  }

  /**
   * Completes a claim: the server stores `result`, and `tag` describes it. It ends in `completed`; in `replayed` if
   * another attempt has stored a result; in `refused`, and then the claim does not end; or in `lost`. After a loss, the
   * program may call it again: the server stores the result unless another attempt has claimed the operation.
   */
  complete(now: number, key: number, tag: string, result: Uint8Array): void {
    checkBytes("result", result);
    this.#check(this.#raw.complete(number("now", now), number("key", key), text(tag), result));
  }

  /** Leaves a claim: it is unknown whether the operation took effect. It ends as {@link release} does. */
  leave(now: number, key: number): void {
    this.#check(this.#raw.leave(number("now", now), number("key", key)));
  }

  /** Turns a writer's grant into a reader's, without a gap. It ends in `downgraded`, `refused` or `lost`. */
  downgrade(now: number, key: number): void {
    this.#check(this.#raw.downgrade(number("now", now), number("key", key)));
  }

  /** Cancels an acquire. It ends in `refused`. */
  cancel(now: number, key: number): void {
    this.#check(this.#raw.cancel(number("now", now), number("key", key)));
  }

  /**
   * ZooKeeper: reports a create. `path` is the complete path, `czxid` is the zxid of the reply, `session` is that of
   * the request.
   */
  created(now: number, id: number, session: bigint, path: string, czxid: bigint): void {
    if (typeof path !== "string" || !isSession(session) || typeof czxid !== "bigint") {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session, a path and a transaction"));
    }
    this.#check(this.#raw.created(number("now", now), number("id", id), session, path, czxid));
  }

  /** ZooKeeper: reports a node's children; for a multi, the names of the created nodes, in the order of its parts. */
  children(now: number, id: number, session: bigint, names: readonly string[]): void {
    if (!Array.isArray(names) || !names.every((name) => typeof name === "string") || !isSession(session)) {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session and the names of the children"));
    }
    this.#check(this.#raw.children(number("now", now), number("id", id), session, names.join("/")));
  }

  /** ZooKeeper: reports the data of a node, and its stat. */
  data(now: number, id: number, session: bigint, data: Uint8Array, stat: Stat): void {
    if (!isBytes(data) || !isSession(session) || !isStat(stat)) {
      this.#check(
        this.#raw.wrong(number("now", now), number("id", id), "a session, the data and the stat of the node"),
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

  /** ZooKeeper: reports that a set, a delete or a sync succeeded. */
  done(now: number, id: number, session: bigint): void {
    if (!isSession(session)) {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session"));
    }
    this.#check(this.#raw.done(number("now", now), number("id", id), session));
  }

  /** ZooKeeper: reports an error of the server, by its number in the protocol, such as -101. */
  error(now: number, id: number, session: bigint, code: number): void {
    if (!Number.isInteger(code) || !isSession(session)) {
      this.#check(this.#raw.wrong(number("now", now), number("id", id), "a session and an error code"));
    }
    this.#check(this.#raw.error(number("now", now), number("id", id), session, code));
  }

  /** Redis: reports the server's reply, also if it is an error. */
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

  /** Reports that a command has no reply. */
  failed(now: number, id: number, failure: Failure): void {
    this.#check(this.#raw.failed(number("now", now), number("id", id), text(failure)));
  }

  /** ZooKeeper: reports the session's state, at first and at every change. `timeout` is the negotiated one, in ms. */
  session(now: number, state: SessionState, session: bigint, timeout = 0): void {
    if (!isSession(session)) {
      throw unreadable(`session is ${shown(session)}: it has to be a BigInt`);
    }
    this.#check(this.#raw.session(number("now", now), text(state), session, number("timeout", timeout)));
  }

  /** ZooKeeper: reports that the watch which the command `id` set in that session has fired or is lost. */
  watch(now: number, id: number, session: bigint, event: "deleted" | "changed" | "gone"): void {
    if (!isSession(session)) {
      throw unreadable(`session is ${shown(session)}: it has to be a BigInt`);
    }
    this.#check(this.#raw.watch(number("now", now), number("id", id), session, text(event)));
  }

  /** Redis: reports a message on the channel that the command `id` subscribed to. */
  message(now: number, id: number): void {
    this.#check(this.#raw.message(number("now", now), number("id", id)));
  }

  /** Redis: reports, once, that the subscription of the command `id` is lost. */
  gone(now: number, id: number): void {
    this.#check(this.#raw.gone(number("now", now), number("id", id)));
  }

  /** Reports that time has passed. Early and repeated calls change nothing. */
  handleTimeout(now: number): void {
    this.#check(this.#raw.handleTimeout(number("now", now)));
  }

  /** Takes the next command or event, of one machine or of all. When none is left, returns a wait. */
  poll(only?: number): Output {
    this.#check(this.#raw.poll(optionalNumber("only", only)));
    return takeOutput();
  }

  /** @internal Takes the next output of all machines. The attempt in a grant is empty. */
  next(): Output {
    this.#raw.next();
    return takeOutput();
  }

  /**
   * Closes a key. Its machine releases or cancels, reports no more events, and exists until the server has replied.
   *
   * Returns the key of the machine that served `key` if no open key uses this machine any more. Then a driver can drop
   * the data that it keeps for that machine, such as watches. The acquires of one owner share a machine, which sends
   * all commands with the key of the first of them. So while other acquires of the grant are open, the result is
   * undefined.
   */
  close(now: number, key: number): number | undefined {
    const unused = this.#raw.close(number("now", now), number("key", key));
    this.#check(unused >= 0);
    return unused === 0 ? undefined : unused;
  }

  /**
   * Whether an open key uses the machine of this key. A driver calls this before it keeps a watch, because the reply to
   * a read may come late.
   */
  serves(key: number): boolean {
    return this.#raw.serves(number("key", key));
  }

  /** Closes all machines. No machine can be opened afterwards. Drive the hub until {@link pending} is 0. */
  shutdown(now: number): void {
    this.#check(this.#raw.shutdown(number("now", now)));
  }

  /** Ends the session of a hub on a memory server, and with it all its grants. */
  disconnect(now: number): void {
    present(now);
  }

  /** Reports a script's usual reply in one call: a number, alone or with bytes. Returns false for any other reply. */
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
    } else if (isBytes(second)) {
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

/** @internal A constructor of the module throws undefined and stores its error. This throws that error. */
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

function isStat(stat: unknown): stat is Stat {
  const { czxid, mzxid, ephemeralOwner, version, created, modified } = (stat ?? {}) as Partial<Stat>;
  const longs = [czxid, mzxid, ephemeralOwner].every((long) => typeof long === "bigint");
  return longs && [version, created, modified].every(Number.isInteger);
}
