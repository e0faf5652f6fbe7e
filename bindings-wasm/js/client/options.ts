/**
 * The program's options.
 *
 * @module
 */

import { ConfigError, unreadable } from "../errors.js";
import type { LockOptions } from "../hub/lock-options.js";
import type { Signal } from "./signal.js";

/** The option of an owner, which locks and read/write locks have on every kind of server. */
export type Owner = Pick<LockOptions, "owner">;

/** Checks that options are an object with known keys only: the client would ignore a misspelt one, without an error. */
export function known(options: unknown, ...names: string[]): void {
  for (const option of Object.keys(object(options))) {
    if (!names.includes(option)) {
      throw unknown(option, names.length === 0 ? "there are none" : `there are ${names.join(", ")}`);
    }
  }
}

/** The same for options of which some are required. */
export function required(options: unknown, ...names: string[]): void {
  if (options === undefined) {
    throw unreadable("options have to be an object");
  }
  known(options, ...names);
}

/** Settings with the program's options. The core knows the options, so unknown ones are passed on to it. */
export function withOptions<S extends object>(settings: S, options: unknown): S {
  const given: Partial<S> = { ...object(options) };
  for (const [option, value] of Object.entries<unknown>(given)) {
    if (Object.hasOwn(settings, option)) {
      throw unknown(option, "the client sets it itself");
    }
    // null does not mean the default here: without an owner each acquire is a new contender, and `fair` selects the
    // lock.
    if (value === null && (option === "owner" || option === "fair")) {
      throw unreadable(`${option} is null: give it a value, or leave it out`);
    }
  }
  return { ...given, ...settings };
}

function object(options: unknown): object {
  if (options === undefined) {
    return {};
  }
  if (typeof options !== "object" || options === null) {
    throw unreadable("options have to be an object");
  }
  return options;
}

function unknown(option: string, there: string): ConfigError {
  return new ConfigError(108, "unknown-option", `unknown option "${option}": ${there}`);
}

/** A number of ms, or nothing. The core checks its range. */
export function optionalMillis(what: string, value: unknown): number | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== "number") {
    throw unreadable(`${what} has to be a number of milliseconds`);
  }
  return value;
}

/** Yes or no, or nothing. */
export function optionalFlag(what: string, value: unknown): boolean | null {
  if (value !== undefined && typeof value !== "boolean") {
    throw unreadable(`${what} has to be true or false`);
  }
  return value ?? null;
}

/** A signal, or nothing. */
export function optionalSignal(value: unknown): Signal | undefined {
  if (value !== undefined && !isSignal(value)) {
    throw unreadable("signal has to be an AbortSignal");
  }
  return value;
}

/** By its shape: some test runners have a second class of that name. */
function isSignal(value: unknown): value is Signal {
  const { aborted, addEventListener } = (value ?? {}) as Partial<Record<"aborted" | "addEventListener", unknown>>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}
