/**
 * Functions that run once for a key.
 *
 * @module
 */

import { ConfigError, Refused, StoredError, named, shown, unreadable } from "../errors.js";
import type { KeepAlive } from "../engine/timers.js";
import { TextDecoder, TextEncoder } from "../host.js";
import { isError } from "../realms.js";
import { type Bytes, LONGEST_RESULT, optionalBytes } from "./bytes.js";
import type { Claim } from "./claim.js";
import type { ClaimOptions, WaitOptions } from "./claim-options.js";
import { type Codec, ERROR, JSON_CODEC, checkedCodec, encoded } from "./codec.js";
import { required } from "./options.js";

/** The value of a call, and whether the call ran the function. */
export interface Outcome<T> {
  readonly value: T;
  /** Whether the value is that of an earlier call. */
  readonly replayed: boolean;
}

/** A class of errors. */
export type ErrorClass = abstract new (...parameters: never[]) => unknown;

/** Options of {@link Idempotency.once}. */
export interface OnceOptions<A extends unknown[], T> extends WaitOptions {
  /** The operation's key, from the call's arguments. */
  readonly key: (...parameters: A) => string;
  /** A digest of the request: see {@link ClaimOptions.fingerprint}. */
  readonly fingerprint?: ((...parameters: A) => Bytes) | undefined;
  /**
   * Encodes and decodes the values. The default is JSON: dates, for example, come back as strings. The default codec
   * rejects values that JSON would change or drop, such as NaN, a Map or bytes.
   */
  readonly codec?: Codec<T> | undefined;
  /**
   * Errors that mean that nothing has happened. The client releases the claim: the operation may be claimed again at
   * once.
   */
  readonly releaseOn?: readonly ErrorClass[] | undefined;
  /**
   * Errors that are results: their text is stored, and later calls reject with a {@link StoredError} of this text. The
   * text is cut at 1,000,000 bytes.
   */
  readonly storeOn?: readonly ErrorClass[] | undefined;
}

/** A function that runs once for a key. */
export interface Once<A extends unknown[], T> {
  /**
   * The function's value, of this call or of an earlier one.
   *
   * @throws the error that the function throws; StoredError for a stored error; Refused `corrupt-record` for a result
   * of another codec; the errors of {@link Idempotency.claim} and {@link Claim.complete}; ConfigError for a value that
   * cannot be stored.
   */
  (...parameters: A): Promise<T>;
  /** The same, but it also returns whether the value is that of an earlier call. */
  outcome(...parameters: A): Promise<Outcome<T>>;
}

const utf8 = new TextDecoder();

/** The text of an error as a result: its beginning, if it is too long. */
function errorBytes(text: string): Uint8Array {
  const encoder = new TextEncoder();
  const all = encoder.encode(text);
  if (all.length <= LONGEST_RESULT) {
    return all;
  }
  const rest = encoder.encode("…");
  // `encodeInto` writes only whole characters.
  const { written } = encoder.encodeInto(text, all.subarray(0, LONGEST_RESULT - rest.length));
  all.set(rest, written);
  return all.subarray(0, written + rest.length);
}

/** @internal */
export function once<A extends unknown[], T>(
  keepAlive: KeepAlive,
  claim: (key: string, options: ClaimOptions) => Promise<Claim>,
  run: (...parameters: A) => unknown,
  options: OnceOptions<A, T>,
): Once<A, T> {
  required(options, "key", "fingerprint", "codec", "releaseOn", "storeOn", "timeout", "wait", "signal");
  const { key, fingerprint, codec: given, releaseOn, storeOn, timeout, wait, signal } = options;
  if (typeof run !== "function" || typeof (key as unknown) !== "function") {
    throw unreadable("once accepts a function, and an option key that is a function of the same arguments");
  }
  const codec = checkedCodec(given ?? (JSON_CODEC as Codec<T>));
  const meaning = meaningOf(classes("releaseOn", releaseOn), classes("storeOn", storeOn));

  /** Ends the claim after an error of the function. */
  async function failed(claimed: Claim, error: unknown): Promise<void> {
    switch (meaning(error)) {
      case "store":
        await claimed.complete(errorBytes(messageOf(error)), { tag: ERROR });
        break;
      case "release":
        await claimed.release();
        break;
      case "leave":
        await claimed.leave();
    }
  }

  async function outcome(this: unknown, ...parameters: A): Promise<Outcome<T>> {
    const claimed = await claim(key(...parameters), {
      fingerprint: optionalBytes("fingerprint", fingerprint?.(...parameters)),
      timeout,
      wait,
      signal,
    });
    const earlier = replay(claimed, codec);
    if (earlier !== null) {
      return earlier;
    }
    let value: T;
    let result: Uint8Array;
    try {
      value = (await keepAlive.during(() => run.apply(this, parameters))) as T;
    } catch (error) {
      // The program gets the function's own error, and not an error from the end of the claim.
      await failed(claimed, error).catch(() => undefined);
      await claimed[Symbol.asyncDispose]().catch(() => undefined);
      const other = replay(claimed, codec);
      if (other !== null) {
        return other;
      }
      throw error;
    }
    try {
      result = encoded(claimed.key, codec, value);
      await claimed.complete(result, { tag: codec.tag });
    } catch (error) {
      await claimed[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    // Another attempt may have stored its result first.
    return replay(claimed, codec) ?? { value, replayed: false };
  }

  const call = async function (this: unknown, ...parameters: A): Promise<T> {
    const { value } = await outcome.apply(this, parameters);
    return value;
  };
  return Object.assign(call, { outcome });
}

/** The value of another attempt, if there is one. */
function replay<T>({ key, replayed, result, tag }: Claim, codec: Codec<T>): Outcome<T> | null {
  if (!replayed || result === null) {
    return null;
  }
  if (tag === ERROR) {
    throw new StoredError(utf8.decode(result));
  }
  if (tag !== codec.tag) {
    throw unusable(key, `its tag is ${shown(tag)}, and the function's is "${codec.tag}"`);
  }
  try {
    return { value: codec.decode(result), replayed: true };
  } catch (error) {
    throw unusable(key, messageOf(error), { cause: error });
  }
}

function unusable(key: string, why: string, options?: ErrorOptions): Refused {
  return new Refused(321, "corrupt-record", `${named(key)}: the stored result cannot be read: ${why}`, options);
}

function messageOf(error: unknown): string {
  return isError(error) ? error.message : String(error);
}

function classes(what: string, given: readonly ErrorClass[] | undefined): readonly ErrorClass[] {
  const all: unknown = given ?? [];
  if (!Array.isArray(all) || !all.every((one: unknown) => typeof one === "function" && isObject(one.prototype))) {
    throw unreadable(`${what} has to be a list of classes of errors`);
  }
  return all as ErrorClass[];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

type Meaning = "release" | "store" | "leave";

/**
 * How the claim ends after an error of the function.
 *
 * @throws ConfigError if an error of one list would always be in the other list, too.
 */
function meaningOf(releaseOn: readonly ErrorClass[], storeOn: readonly ErrorClass[]): (error: unknown) => Meaning {
  for (const harmless of releaseOn) {
    const result = storeOn.find((one) => isPart(one, harmless) || isPart(harmless, one));
    if (result !== undefined) {
      const both = `releaseOn has ${harmless.name} and storeOn has ${result.name}, and one error can be both`;
      throw new ConfigError(110, "invalid-option", `${both}: leave it out of one of them`);
    }
  }
  return (error) => {
    const [harmless, result] = [releaseOn, storeOn].map((list) => list.some((one) => error instanceof one));
    if (!(harmless && result)) {
      return harmless ? "release" : result ? "store" : "leave";
    }
    // With `Symbol.hasInstance`, an error can belong to both lists. Then the class that is nearest to it decides.
    for (let each: unknown = Object.getPrototypeOf(error); each !== null; each = Object.getPrototypeOf(each)) {
      if (releaseOn.some((one) => one.prototype === each)) {
        return "release";
      }
      if (storeOn.some((one) => one.prototype === each)) {
        return "store";
      }
    }
    return "leave";
  };
}

/** Whether a class is the other one or derived from it. A `Symbol.hasInstance` of the other one does not count. */
function isPart(one: ErrorClass, whole: ErrorClass): boolean {
  return one === whole || Object.prototype.isPrototypeOf.call(whole.prototype as object, one.prototype as object);
}
