/**
 * Client libraries that need not be there.
 *
 * @module
 */

import { ConfigError } from "../errors.js";

/** A package that bundlers have replaced by an empty one is absent, too. */
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

/** What Node.js, Deno and Bun say of a package that is not there, and what stands for it in the bundles of webpack, Rollup and Vite, and in a browser. */
const MISSING = /^(Cannot find (module|package)|Could not resolve|Failed to resolve|Module not found)/;

export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { code } = error as { readonly code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || MISSING.test(error.message);
}
