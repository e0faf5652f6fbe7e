/**
 * Client libraries that may not be installed.
 *
 * @module
 */

import { ConfigError } from "../errors.js";

/** Bundlers may replace a missing package by an empty one. Then it is missing, too. */
export function nothing<T>(exported: T | undefined): T | null {
  return typeof exported === "function" ? exported : null;
}

export function absent(error: unknown): null {
  if (isMissing(error)) {
    return null;
  }
  throw error;
}

export function missing(name: string, cause?: unknown): ConfigError {
  const text = `this address needs a package that is not installed, or not in this bundle: ${name}`;
  return new ConfigError(106, "invalid-url", text, cause === undefined ? {} : { cause });
}

/**
 * The errors of Node.js, Deno and Bun for a missing package, and what replaces it in bundles of webpack, Rollup and
 * Vite, and in a browser.
 */
const MISSING = /^(Cannot find (module|package)|Could not resolve|Failed to resolve|Module not found)/;

export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { code } = error as { readonly code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || MISSING.test(error.message);
}
