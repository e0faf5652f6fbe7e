/**
 * Errors, with a class for each kind of cause. Every one has a number (`code`) and a kebab-case name (`kind`), the same
 * in every language.
 *
 * @module
 */

import type { RecordData } from "./hub/records.js";
import { isError } from "./realms.js";

/** The base of all errors of this package. */
export class FencepostError extends Error {
  override readonly name: string = "FencepostError";
  /** The number: 1xx settings, 2xx calls, 3xx refusals, 4xx losses, 5xx the client's own. */
  readonly code: number;
  /** The kebab-case name of the number, such as `not-held`. */
  readonly kind: string;

  /** Not `ErrorOptions`: a program's types have that only since ES2022. */
  constructor(code: number, kind: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.kind = kind;
  }

  /** The error for a log. */
  toJSON(): { name: string; code: number; kind: string; message: string; cause?: string } {
    const { name, code, kind, message, cause } = this;
    return { name, code, kind, message, ...(isError(cause) && { cause: `${cause.name}: ${cause.message}` }) };
  }
}

/** A setting or argument that makes no sense. Thrown before anything is sent. */
export class ConfigError extends FencepostError {
  override readonly name = "ConfigError";
}

/** A call that makes no sense in the present state: released twice, client closed. It has changed nothing. */
export class MisuseError extends FencepostError {
  override readonly name = "MisuseError";
}

/**
 * An acquire has come to nothing, or the server has refused a release. The client library's own error, if it was one, is the
 * `cause`.
 */
export class Refused extends FencepostError {
  override readonly name: string = "Refused";
}

/** Another contender held the lock until the acquire timeout ended, or at the try. */
export class NotAcquired extends Refused {
  override readonly name: string = "NotAcquired";
}

/** A claim has found that another attempt runs the operation: until its timeout ended, or at once if it does not wait. Nothing has run. */
export class InProgress extends NotAcquired {
  override readonly name = "InProgress";
  /** For how many ms the lease of that attempt still runs, if the server has said it. */
  readonly retryAfter: number | null;

  /** @internal */
  constructor(code: number, kind: string, message: string, options: ErrorOptions, retryAfter: number | null) {
    super(code, kind, message, options);
    this.retryAfter = retryAfter;
  }
}

/** The key belongs to another operation, or to the same one with another fingerprint or binding. Nothing has run. */
export class Mismatch extends Refused {
  override readonly name = "Mismatch";
}

/**
 * The lease of an earlier attempt has ended without a result, and the policy is not to run the operation again. It may
 * have run: find out, then settle or forget its record.
 */
export class Indeterminate extends Refused {
  override readonly name = "Indeterminate";
}

/** The value has another version than an update expects: read it, and update it again. */
export class Conflict extends Refused {
  override readonly name = "Conflict";
  /** The present value; null: there is none. */
  readonly record: RecordData | null;

  /** @internal */
  constructor(code: number, kind: string, message: string, options: ErrorOptions, record: RecordData | null) {
    super(code, kind, message, options);
    this.record = record;
  }
}

/** The operation has ended in this error before, and the error's text was stored as its result. It has not run again. */
export class StoredError extends FencepostError {
  override readonly name = "StoredError";

  /** @internal */
  constructor(text: string) {
    super(507, "stored-error", text);
  }
}

/**
 * A grant has ended without a release: another contender may hold the lock. If a client library's error was the cause, it
 * is the `cause`.
 */
export class LockLost extends FencepostError {
  override readonly name = "LockLost";
}

/** The server has not confirmed a release within 5 seconds. It is carried on with in the background. */
export class ReleaseUnconfirmed extends FencepostError {
  override readonly name = "ReleaseUnconfirmed";

  /** @internal */
  constructor(lock: string) {
    const message = `${named(lock)}: the server has not confirmed the release within 5 s; it is carried on with in the background`;
    super(501, "release-unconfirmed", message);
  }
}

/** A closed client has had to leave something on the server. It goes with its lease or session. */
export class CleanupIncomplete extends FencepostError {
  override readonly name = "CleanupIncomplete";
  /** How many contenders the server has not answered for, or has not let go. */
  readonly count: number;

  /** @internal */
  constructor(count: number) {
    super(
      503,
      "cleanup-incomplete",
      `${count} contenders were left on the server: they go with their leases or session`,
    );
    this.count = count;
  }
}

/**
 * What this package stands on does not work: a client library is missing or too old (`driver-missing`, `driver-unsupported`), a WebAssembly module was not found
 * (`module-missing`), or a client library, or this package, has met a mistake in a program (`driver-failed`): a `TypeError` of a library whose methods take
 * other arguments, for example. It is the `cause`. Asking again would meet it again, so every call of the client ends with this error.
 */
export class DriverError extends FencepostError {
  override readonly name = "DriverError";
}

let kept: FencepostError | null = null;

/** @internal For the WebAssembly module: made here, thrown by who has called it. */
export function configError(code: number, kind: string, message: string): void {
  kept = new ConfigError(code, kind, message);
}

/** @internal For the WebAssembly module: made here, thrown by who has called it. */
export function misuse(code: number, kind: string, message: string): void {
  kept = new MisuseError(code, kind, message);
}

/** @internal For the WebAssembly module: its core has a bug. Thrown through the module, whose hub cannot be used after it. */
export function panicked(file: string, line: number): never {
  throw new Error(`fencepost's core has failed, please report it: panicked at ${file}:${line}`);
}

/** @internal For the WebAssembly module: the runtime gives it no more memory. Thrown as {@link panicked} does. */
export function outOfMemory(bytes: number): never {
  throw new Error(`fencepost's core has failed: there is no memory for ${bytes} bytes`);
}

/** @internal The error of the call into the module that has just failed. */
export function takeKept(): FencepostError {
  const error = kept ?? new FencepostError(0, "unknown", "the WebAssembly module has failed without a word");
  kept = null;
  return error;
}

/** @internal A value that is not what an argument takes. */
export function unreadable(message: string): ConfigError {
  return new ConfigError(109, "unreadable-settings", message);
}

/** The most of a name that an error repeats, in characters. */
const MOST_SHOWN = 64;

/** @internal A lock's name in an error's text: all of it, or its beginning. */
export function named(name: string): string {
  const beginning = Array.from(name.slice(0, 2 * MOST_SHOWN))
    .slice(0, MOST_SHOWN)
    .join("");
  return beginning.length < name.length ? `${beginning}…` : name;
}

/** @internal A value of any type in an error's text, as one would write it. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "bigint":
      return `${value}n`;
    case "string":
      return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "an array" : "an object";
    case "function":
      return "a function";
    default:
      return String(value);
  }
}

/** @internal */
export function clientClosed(): MisuseError {
  return new MisuseError(207, "client-closed", "the client has been closed");
}

/** @internal A grant that a close has ended. */
export function lostByClosing(lock: string): LockLost {
  const why = `${named(lock)}: the client was closed while it held the lock`;
  return new LockLost(406, "lost-connection-closed", why);
}

/** @internal */
export function driverFailed(cause: unknown): DriverError {
  const what = isError(cause) ? `${cause.name}: ${cause.message}` : String(cause);
  const remedy = "use a version of the client library that this package supports, or report it; then make a new client";
  return new DriverError(506, "driver-failed", `the client library could not be used (${what}): ${remedy}`, { cause });
}

/** @internal The WebAssembly module of that name cannot be used. */
export function moduleMissing(name: string, why: string, cause?: unknown): DriverError {
  const remedy = `put the package's file dist/modules/${name}.wasm where the program looks for it, or import "fencepost/base64/${name}"`;
  const text = `the WebAssembly module ${name}.wasm cannot be used (${why}): ${remedy}`;
  return new DriverError(508, "module-missing", text, cause === undefined ? {} : { cause });
}

/** @internal Where a server was looked for, and why it was not reached, for the end of an error's text. */
export function whereabouts(at: string, cause: unknown): string {
  const why = isError(cause) && cause.message !== "" ? `: ${cause.message}` : "";
  return ` (${at}${why})`;
}

/** @internal There has been no connection to the server within so many ms. */
export function notConnected(lock: string, at: string, within: number, cause: unknown): Refused {
  const what = `no server has answered within ${within} ms${whereabouts(at, cause)}`;
  const remedy = "check the address, and whether the server runs; the option connectTimeout sets the time";
  return new Refused(304, "unreachable", `${named(lock)}: ${what}: ${remedy}`, cause === undefined ? {} : { cause });
}

/** @internal */
export function notHeld(lock: string): MisuseError {
  return new MisuseError(205, "not-held", `${named(lock)}: there is no grant: it has been released`);
}

/** @internal */
export function notClaimed(operation: string): MisuseError {
  const why = "there is no claim: the operation has a result, or the claim has been ended";
  return new MisuseError(205, "not-held", `${named(operation)}: ${why}`);
}
