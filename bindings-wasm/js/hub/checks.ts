/**
 * Checks of arguments. An untyped program may pass anything, and the WebAssembly module would convert it.
 *
 * @module
 */

import { ConfigError, shown, unreadable } from "../errors.js";
import { isBytes } from "../realms.js";

/** @internal The longest duration: 365 days in ms, as in the core. */
export const LONGEST_DURATION = 365 * 24 * 3_600_000;

/** @internal An untyped program may pass any value as a text. This makes it a string, which the core can refuse. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : shown(value);
}

/** @internal Checks that an argument is a number. The module would convert other values. */
export function number(what: string, value: unknown): number {
  if (typeof value !== "number") {
    throw unreadable(`${what} is ${shown(value)}: it has to be a number`);
  }
  return value;
}

/**
 * @internal Checks a whole number. This is not in the module, because its code for formatting numbers would be a tenth
 * of its size.
 */
export function whole(what: string, value: unknown): number {
  const given = number(what, value);
  if (!Number.isSafeInteger(given) || given < 0) {
    const text = `${what} is ${given}: it has to be a whole number, at least 0 and below 2^53`;
    throw new ConfigError(110, "invalid-option", text);
  }
  return given;
}

/** @internal Checks the present time, where the module does not use it. The error is the module's. */
export function present(now: unknown): number {
  const millis = number("now", now);
  if (!(millis >= 0 && millis * 1000 < 2 ** 53)) {
    throw unreadable("now has to be a finite number of milliseconds");
  }
  return millis;
}

/** @internal Checks that an argument is bytes. */
export function checkBytes(what: string, value: unknown): asserts value is Uint8Array {
  if (!isBytes(value)) {
    throw unreadable(`${what} is ${shown(value)}: it has to be a Uint8Array`);
  }
  checkPresent(what, value);
}

/**
 * @internal Checks that bytes can be read. The copy into the module would throw, and the client would treat that as a
 * bug.
 */
export function checkPresent(what: string, bytes: Uint8Array): void {
  if (bytes.length > 0) {
    return;
  }
  try {
    new Uint8Array().set(bytes);
  } catch {
    throw unreadable(`${what} is a Uint8Array whose buffer was transferred or has shrunk: give a copy of the bytes`);
  }
}

/** @internal */
export function optionalNumber(what: string, value: unknown): number | undefined {
  return isGiven(value) ? number(what, value) : undefined;
}

/** @internal */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @internal */
export function isSession(session: unknown): session is bigint {
  return typeof session === "bigint";
}
