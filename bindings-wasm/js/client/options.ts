/**
 * Options as somebody has written them.
 *
 * @module
 */

import { ConfigError, unreadable } from "../errors.js";

/** Checks that options are an object with known keys only: a misspelt one would be a silent default. */
export function known(options: unknown, ...names: string[]): void {
  if (options === undefined) {
    return;
  }
  if (typeof options !== "object" || options === null) {
    throw unreadable("options have to be an object");
  }
  for (const option of Object.keys(options)) {
    if (!names.includes(option)) {
      const there = names.length === 0 ? "there are none" : `there are ${names.join(", ")}`;
      throw new ConfigError(108, "unknown-option", `unknown option "${option}": ${there}`);
    }
  }
}

/** A number of ms, or nothing; whether it makes sense is for the core to say. */
export function optionalMillis(what: string, value: unknown): number | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== "number") {
    throw unreadable(`${what} has to be a number of milliseconds`);
  }
  return value;
}

/** A signal, or nothing. */
export function optionalSignal(value: unknown): AbortSignal | undefined {
  if (value !== undefined && !(value instanceof AbortSignal)) {
    throw unreadable("signal has to be an AbortSignal");
  }
  return value;
}
