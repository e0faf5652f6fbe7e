/**
 * Client libraries that need not be there.
 *
 * @module
 */

import { DriverError } from "../errors.js";

/**
 * A function that a client library exports; null if it is not there. A package that bundlers have replaced by an empty one is absent, too.
 */
export function exported<T>(found: T | undefined): T | null {
  return typeof found === "function" ? found : null;
}

/** What has come of an import that has failed: null if the package is absent. */
export function absent(error: unknown): null {
  if (isMissing(error)) {
    return null;
  }
  throw error;
}

/** The error for a library that is not there. `packages`: what to install, such as `redis@6`. */
export function missing(server: string, packages: string): DriverError {
  const text = `the client library for ${server} is not installed, or not in this bundle: npm install ${packages}`;
  return new DriverError(526, "driver-missing", text);
}

/** The error for a library of a version that does not have what a driver needs. */
export function tooOld(name: string, packages: string): DriverError {
  const text = `the installed version of ${name} is not one that fencepost works with: npm install ${packages}`;
  return new DriverError(509, "driver-unsupported", text);
}

/** What Node.js, Deno and Bun say of a package that is not there, and what stands for it in the bundles of webpack, Rollup and Vite, and in a browser. */
const MISSING = /^(Cannot find (module|package)|Could not resolve|Failed to resolve|Module not found)/;

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { code } = error as { readonly code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || MISSING.test(error.message);
}
