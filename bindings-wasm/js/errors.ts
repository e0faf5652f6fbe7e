/**
 * The errors of this package, with a class for each kind of cause. Each error has a number (`code`) and a kebab-case
 * name (`kind`). Both are the same in all languages.
 *
 * @module
 */

import type { RecordData } from "./hub/records.js";
import { isError } from "./realms.js";

/** A method of all errors of this package, and of other copies of it. */
const BRAND: unique symbol = Symbol.for("fencepost.error") as never;

/** The base of all errors of this package. */
export class FencepostError extends Error {
  override readonly name: string = "FencepostError";
  /** The number: 1xx settings, 2xx calls, 3xx refusals, 4xx losses, 5xx errors of the client itself. */
  readonly code: number;
  /** The kebab-case name of the number, such as `not-held`. */
  readonly kind: string;

  /** The type is not `ErrorOptions`, because that exists only since ES2022. */
  constructor(code: number, kind: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.kind = kind;
  }

  /** @internal {@link isOwn} looks for this method. It is no field, because logs show an error's fields. */
  [BRAND](): void {
    // It marks the class.
  }

  /** The error for a log. */
  toJSON(): { name: string; code: number; kind: string; message: string; cause?: string } {
    const { name, code, kind, message, cause } = this;
    return { name, code, kind, message, ...(isError(cause) && { cause: `${cause.name}: ${cause.message}` }) };
  }
}

/** @internal Whether a value is an error of this package. A program may have several copies of the package. */
export function isOwn(error: unknown): error is FencepostError {
  return isError(error) && BRAND in error;
}

/** A setting or argument that is not valid. The call throws it before it sends anything. */
export class ConfigError extends FencepostError {
  override readonly name = "ConfigError";
}

/**
 * A call that is not allowed in the present state: a second release, or a call on a closed client. It changes nothing.
 */
export class MisuseError extends FencepostError {
  override readonly name = "MisuseError";
}

/**
 * The client did not get the lock or the claim, or the server refused a request. If an error of the client library was
 * the reason, it is the `cause`.
 */
export class Refused extends FencepostError {
  override readonly name: string = "Refused";
}

/** Another contender held the lock until the acquire timeout ended, or at the time of a try. */
export class NotAcquired extends Refused {
  override readonly name: string = "NotAcquired";
}

/**
 * Another attempt ran the operation until the timeout of the claim ended; or it runs now, and the claim does not wait.
 * This attempt has not run the operation.
 */
export class InProgress extends NotAcquired {
  override readonly name = "InProgress";
  /** The remaining lease of the other attempt in ms; null if the server did not report it. */
  readonly retryAfter: number | null;

  /** @internal */
  constructor(code: number, kind: string, message: string, options: ErrorOptions, retryAfter: number | null) {
    super(code, kind, message, options);
    this.retryAfter = retryAfter;
  }
}

/**
 * The key belongs to another operation, or to the same one with another fingerprint or binding. This attempt has not
 * run the operation.
 */
export class Mismatch extends Refused {
  override readonly name = "Mismatch";
}

/**
 * An earlier attempt ended without a result, and the policy (`onLeaseEnd`) does not allow another run. The operation
 * may have run: find out, and then settle or forget its record.
 */
export class Indeterminate extends Refused {
  override readonly name = "Indeterminate";
}

/** The value has another version than the update expects: read the value, and update it again. */
export class Conflict extends Refused {
  override readonly name = "Conflict";
  /** The present value; null if there is none. */
  readonly record: RecordData | null;

  /** @internal */
  constructor(code: number, kind: string, message: string, options: ErrorOptions, record: RecordData | null) {
    super(code, kind, message, options);
    this.record = record;
  }
}

/**
 * An earlier run of the operation ended with this error, and the error's text was stored as its result. The operation
 * did not run again.
 */
export class StoredError extends FencepostError {
  override readonly name = "StoredError";

  /** @internal */
  constructor(text: string) {
    super(507, "stored-error", text);
  }
}

/**
 * A grant or a claim ended, and the program did not end it: another contender may hold the lock. If an error of the
 * client library was the reason, it is the `cause`.
 */
export class LockLost extends FencepostError {
  override readonly name: string = "LockLost";
}

/**
 * A claim was lost before the program completed, left or released it. Another attempt may run the operation by now. The
 * program may still complete, leave or release the claim: the server decides whether that has an effect.
 */
export class ClaimLost extends LockLost {
  override readonly name = "ClaimLost";
}

/** The server did not confirm a release within 5 seconds. The client continues the release in the background. */
export class ReleaseUnconfirmed extends FencepostError {
  override readonly name = "ReleaseUnconfirmed";

  /** @internal */
  constructor(lock: string) {
    const message = `${named(lock)}: the server has not confirmed the release within 5 s; the client continues in the background`;
    super(501, "release-unconfirmed", message);
  }
}

/**
 * The client closed, and some of its contenders are still on the server. They end with their leases or with the
 * session.
 */
export class CleanupIncomplete extends FencepostError {
  override readonly name = "CleanupIncomplete";
  /** How many contenders may still be on the server: it did not confirm their end, or refused it. */
  readonly count: number;

  /** @internal */
  constructor(count: number) {
    super(
      503,
      "cleanup-incomplete",
      `${count} contenders were left on the server: they end with their leases or session`,
    );
    this.count = count;
  }
}

/**
 * A dependency of this package does not work. A client library is missing (`driver-missing`) or too old
 * (`driver-unsupported`), or a WebAssembly module cannot be used (`module-missing`). With `driver-failed`, a client
 * library or this package threw a programming error, such as a `TypeError` of a library whose methods have other
 * parameters. That error is the `cause`. A retry would fail in the same way, so every call of the client ends with this
 * error.
 */
export class DriverError extends FencepostError {
  override readonly name = "DriverError";
}

let kept: FencepostError | null = null;

/** @internal For the WebAssembly module, which calls this. The caller of the module throws the error. */
export function configError(code: number, kind: string, message: string): void {
  kept = new ConfigError(code, kind, message);
}

/** @internal For the WebAssembly module, as {@link configError}. */
export function misuse(code: number, kind: string, message: string): void {
  kept = new MisuseError(code, kind, message);
}

/**
 * @internal For the WebAssembly module, when its core has a bug. The error passes through the module, and the hub
 * cannot be used afterwards.
 */
export function panicked(file: string, line: number): never {
  throw new Error(`fencepost's core has failed, please report it: panicked at ${file}:${line}`);
}

/** @internal For the WebAssembly module, when the runtime gives it no more memory. Throws as {@link panicked} does. */
export function outOfMemory(bytes: number): never {
  throw new Error(`fencepost's core has failed: there is no memory for ${bytes} bytes`);
}

/** @internal The error of the call into the module that has just failed. */
export function takeKept(): FencepostError {
  const error = kept ?? new FencepostError(0, "unknown", "the WebAssembly module failed and gave no reason");
  kept = null;
  return error;
}

/** @internal For an argument that has the wrong type. */
export function unreadable(message: string): ConfigError {
  return new ConfigError(109, "unreadable-settings", message);
}

/** How many characters of a name an error's text contains at most. */
const MOST_SHOWN = 64;

/** @internal A lock's name in an error's text: all of it, or its beginning. */
export function named(name: string): string {
  const beginning = Array.from(name.slice(0, 2 * MOST_SHOWN))
    .slice(0, MOST_SHOWN)
    .join("");
  return beginning.length < name.length ? `${beginning}…` : name;
}

/** @internal A value of any type in an error's text, in JavaScript's notation. */
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

/** @internal For a grant that ended because the client was closed. */
export function lostByClosing(name: string, isClaim: boolean): LockLost {
  const held = isClaim ? "claimed the operation" : "held the lock";
  return loss(isClaim, 406, "lost-connection-closed", `${named(name)}: the client was closed while it ${held}`);
}

/** @internal The loss of a grant or of a claim. */
export function loss(
  isClaim: boolean,
  code: number,
  kind: string,
  message: string,
  options?: { readonly cause?: unknown },
): LockLost {
  return new (isClaim ? ClaimLost : LockLost)(code, kind, message, options);
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

/** @internal The end of an error's text: the server's address, and why the client did not reach it. */
export function whereabouts(at: string, cause: unknown): string {
  const why = isError(cause) && cause.message !== "" ? `: ${cause.message}` : "";
  return ` (${at}${why})`;
}

/** @internal For an acquire that had no connection to the server within that time, in ms. */
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
