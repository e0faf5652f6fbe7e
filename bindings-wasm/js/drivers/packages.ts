/**
 * Client libraries that may not be installed.
 *
 * @module
 */

import { DriverError } from "../errors.js";
import { isError } from "../realms.js";

/**
 * Returns a function that a client library exports; null if the library is not installed. Bundlers may replace a
 * missing package by an empty one, which counts as missing, too.
 */
export function exported<T>(found: T | undefined): T | null {
  return typeof found === "function" ? found : null;
}

/** Handles the error of a failed import: null if the package is missing. */
export function absent(error: unknown): null {
  if (isMissing(error)) {
    return null;
  }
  throw error;
}

/** The error for a library that is not installed. `packages` names the packages to install, such as `redis@6`. */
export function missing(server: string, packages: string): DriverError {
  const text = `the client library for ${server} is not installed, or not in this bundle: npm install ${packages}`;
  return new DriverError(526, "driver-missing", text);
}

/** The error for a version of a library that lacks functions for the driver. */
export function unsupportedVersion(name: string, packages: string): DriverError {
  const text = `the installed version of ${name} is not supported by fencepost: npm install ${packages}`;
  return new DriverError(509, "driver-unsupported", text);
}

/**
 * The errors of Node.js, Deno, Bun and workerd for a missing package, and those in bundles of webpack, Rollup and Vite,
 * and in a browser.
 */
const MISSING = /^(Cannot find (module|package)|No such module|Could not resolve|Failed to resolve|Module not found)/;

function isMissing(error: unknown): boolean {
  if (!isError(error)) {
    return false;
  }
  const { code } = error as { readonly code?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || MISSING.test(error.message);
}
