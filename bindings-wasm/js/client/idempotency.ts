/**
 * Idempotent operations of one scope.
 *
 * @module
 */

import { Contender } from "../engine/contender.js";
import type { Engine } from "../engine/engine.js";
import type { AcquireTimeout } from "../engine/machines.js";
import { unreadable } from "../errors.js";
import type { Settings } from "../hub/hub.js";
import { text } from "../hub/checks.js";
import type { RecordData } from "../hub/records.js";
import type { Scope } from "../hub/scope.js";
import { checkAborted } from "./aborts.js";
import { type Bytes, bytesOf, optionalBytes } from "./bytes.js";
import { Claim } from "./claim.js";
import type { ClaimOptions, WaitOptions } from "./claim-options.js";
import { contend } from "./contend.js";
import { type Once, type OnceOptions, once } from "./once.js";
import { known, optionalFlag, optionalMillis, optionalSignal, required } from "./options.js";
import type { Signal } from "./signal.js";

/** Options of {@link Idempotency.consume}. */
export interface TokenOptions extends ClaimOptions {
  /** Names the user and the purpose of the token. */
  readonly binding: Bytes;
}

/** Options of {@link Idempotency.register}. */
export interface RegisterOptions {
  /** For a key that is a token: the binding with which it was issued. */
  readonly binding?: Bytes | undefined;
  /** As {@link ClaimOptions.fingerprint}. */
  readonly fingerprint?: Bytes | undefined;
  /** A short text that describes the result, of at most 255 bytes. */
  readonly tag?: string | undefined;
}

/** Options of {@link Idempotency.update}. */
export interface UpdateOptions {
  /** The name of the update. The server does not apply an update of the same name again. */
  readonly operation: string;
  /** The version that the value must have; 0 if there is no value yet. */
  readonly version: number;
  /** As {@link ClaimOptions.fingerprint}. */
  readonly fingerprint?: Bytes | undefined;
  /** A short text that describes the value, of at most 255 bytes. */
  readonly tag?: string | undefined;
}

/** A stored result or value. */
export interface Stored {
  /** The result, or the value with its version. */
  readonly record: RecordData;
  /** Whether another attempt, or the same update, had stored it before. */
  readonly replayed: boolean;
}

/** The options of every claim. */
const WAITS = ["timeout", "wait", "signal"] as const;

/**
 * Idempotent operations of one scope. It is cheap, sends nothing by itself, and may be shared.
 *
 * Keys, tokens and the names of updates are texts of 1 to 1024 bytes, without control characters.
 */
export class Idempotency {
  /** The namespace of the keys. */
  readonly scope: string;
  readonly #engine: Engine;
  readonly #scope: Scope;

  /** @internal */
  constructor(engine: Engine, name: string, scope: Scope) {
    this.#engine = engine;
    this.scope = name;
    this.#scope = scope;
  }

  /**
   * Makes a function idempotent: a call claims its key, runs the function, and stores its result. If the key already
   * has a result, the call returns it and does not run the function; {@link Once.outcome} reports this. If another call
   * with the same key is running, the call waits for its result.
   *
   * If the function throws, the client leaves the claim: the outcome is not known. `releaseOn` and `storeOn` list the
   * errors after which it is known.
   *
   * @throws ConfigError for an option that is not valid.
   */
  once<A extends unknown[], T>(
    run: (...parameters: A) => T | PromiseLike<T>,
    // `key` may have fewer parameters than `run`. `Extract` makes TypeScript infer `A` from `run` alone.
    options: OnceOptions<Extract<A, unknown[]>, Awaited<T>>,
  ): Once<A, Awaited<T>> {
    const begin = (key: string, claim: ClaimOptions) => this.claim(key, claim);
    return once<A, Awaited<T>>(this.#engine.keepAlive, begin, run, options as OnceOptions<A, Awaited<T>>);
  }

  /**
   * Claims the operation `key`. Waits while another attempt runs it. If there is a result, the claim is
   * {@link Claim.replayed}.
   *
   * @throws InProgress if another attempt ran it for the whole timeout, or runs it now if the claim does not wait;
   * Mismatch for another fingerprint; Indeterminate if an earlier attempt ended without a result and `onLeaseEnd` does
   * not allow another run; Refused: no permission, no server within the timeout; ConfigError for a key or an option
   * that is not valid; the signal's reason, if the signal is aborted.
   */
  async claim(key: string, options?: ClaimOptions): Promise<Claim> {
    known(options, "fingerprint", ...WAITS);
    const fingerprint = optionalBytes("fingerprint", options?.fingerprint);
    return this.#claim(key, options, () => this.#scope.claim(key, fingerprint));
  }

  /**
   * Claims the operation of a token that {@link issue} made.
   *
   * @throws as {@link claim} does; Mismatch for another binding; Refused `unknown-token` for a token that was not issued or
   * has expired.
   */
  async consume(token: string, options: TokenOptions): Promise<Claim> {
    required(options, "binding", "fingerprint", ...WAITS);
    const binding = bytesOf("binding", options.binding);
    const fingerprint = optionalBytes("fingerprint", options.fingerprint);
    return this.#claim(token, options, () => this.#scope.consume(token, binding, fingerprint));
  }

  /**
   * Makes a token, which may be consumed once within `life` ms (by default ten minutes). The program has to choose a
   * token that others cannot guess, such as `crypto.randomUUID()`.
   *
   * @throws Mismatch if the token was issued with another binding; Refused; ConfigError.
   */
  async issue(token: string, options: { readonly binding: Bytes; readonly life?: number | undefined }): Promise<void> {
    required(options, "binding", "life");
    const binding = bytesOf("binding", options.binding);
    const life = optionalMillis("life", options.life) ?? undefined;
    await this.#ask(token, () => this.#scope.issue(token, binding, life));
  }

  /**
   * Claims and completes at once, in one request: for a result that the program knows in advance, such as one order for
   * each user.
   *
   * @throws InProgress, Refused and ConfigError, as {@link claim} does.
   */
  async register(key: string, result: Bytes, options?: RegisterOptions): Promise<Stored> {
    known(options, "binding", "fingerprint", "tag");
    const { binding, fingerprint, tag = "" } = options ?? {};
    const bound = binding === undefined ? null : bytesOf("binding", binding);
    const [print, bytes] = [optionalBytes("fingerprint", fingerprint), bytesOf("result", result)];
    return this.#store(key, () => this.#scope.register(key, bound, print, tag, bytes));
  }

  /**
   * Replaces the value at `key`, if it has the expected version. The record has the new version.
   *
   * @throws Conflict with the present value, if it has another version; Refused and ConfigError.
   */
  async update(key: string, value: Bytes, options: UpdateOptions): Promise<Stored> {
    required(options, "operation", "version", "fingerprint", "tag");
    const { operation, version, fingerprint, tag = "" } = options;
    const [print, bytes] = [optionalBytes("fingerprint", fingerprint), bytesOf("value", value)];
    return this.#store(key, () => this.#scope.update(key, operation, version, print, tag, bytes));
  }

  /** Reads the record of an operation, or a value; null if there is none. @throws Refused, ConfigError. */
  async look(key: string): Promise<RecordData | null> {
    const { record } = await this.#ask(key, () => this.#scope.look(key));
    return record;
  }

  /**
   * For an operator: stores a result for the operation, for example for one that is `indeterminate`.
   *
   * @throws Refused `record-changed` if the record has changed since {@link look} returned it; ConfigError.
   */
  async settle(
    key: string,
    seen: RecordData,
    result: Bytes,
    options?: { readonly tag?: string | undefined },
  ): Promise<Stored> {
    known(options, "tag");
    const [guard, bytes] = [guardOf(seen), bytesOf("result", result)];
    return this.#store(key, () => this.#scope.settle(key, guard, options?.tag ?? "", bytes));
  }

  /**
   * For an operator: deletes the record. The operation may be claimed again.
   *
   * @throws as {@link settle} does.
   */
  async forget(key: string, seen: RecordData): Promise<void> {
    const guard = guardOf(seen);
    await this.#ask(key, () => this.#scope.forget(key, guard));
  }

  /**
   * Deletes the records of this scope that no request needs: records that were released or forgotten or are past their
   * retention, and tokens past their life. Returns how many. On ZooKeeper nothing else deletes them: run it once a day,
   * in one process or in many. On Redis the server deletes them itself, and this returns 0.
   *
   * @throws Refused.
   */
  async sweep(): Promise<number> {
    const { deleted } = await this.#contend(this.scope, () => this.#scope.sweep(), "try", undefined, itself);
    return deleted;
  }

  /** A key for one step of an operation at another service: see {@link Claim.derive}. @throws ConfigError. */
  derive(key: string, step: string): string {
    return this.#scope.derive(key, step);
  }

  async #claim(key: string, options: WaitOptions | undefined, make: () => Settings): Promise<Claim> {
    const { timeout, wait, signal } = waitOf(options);
    checkAborted(signal);
    return this.#contend(this.#name(key), make, wait ? timeout : "try", signal, (contender, engine) => {
      return new Claim(engine, contender, this.#scope, key);
    });
  }

  async #store(key: string, make: () => Settings): Promise<Stored> {
    const { record, replayed } = await this.#ask(key, make);
    if (record === null) {
      throw unreadable(`${key}: the server's answer has no record`);
    }
    return { record, replayed };
  }

  #ask(key: string, make: () => Settings): Promise<Contender> {
    return this.#contend(this.#name(key), make, "try", undefined, itself);
  }

  #name(key: string): string {
    return `${this.scope}/${text(key)}`;
  }

  #contend<T>(
    name: string,
    make: () => Settings,
    acquireTimeout: AcquireTimeout,
    signal: Signal | undefined,
    finish: (contender: Contender, engine: Engine) => T,
  ): Promise<T> {
    this.#engine.check();
    const settings = make();
    const contender = new Contender(name, true);
    const answer = contend(this.#engine, contender, settings, acquireTimeout, signal, finish);
    settings.free();
    return answer;
  }
}

function itself(contender: Contender): Contender {
  return contender;
}

function waitOf(options: WaitOptions | undefined) {
  const timeout = optionalMillis("timeout", options?.timeout);
  const wait = optionalFlag("wait", options?.wait) ?? true;
  if (!wait && timeout !== null) {
    throw unreadable("a claim that does not wait has no timeout: remove one of them");
  }
  return { timeout, wait, signal: optionalSignal(options?.signal) };
}

function guardOf(seen: RecordData): number {
  const guard: unknown = (seen as RecordData | null | undefined)?.guard;
  if (typeof guard !== "number") {
    throw unreadable("give a record that look() returned");
  }
  return guard;
}
